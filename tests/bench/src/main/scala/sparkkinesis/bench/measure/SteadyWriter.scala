package sparkkinesis.bench.measure

import java.lang.management.ManagementFactory
import java.util.concurrent.ConcurrentSkipListMap

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import software.amazon.awssdk.core.SdkBytes
import software.amazon.awssdk.services.kinesis.model.PutRecordsRequestEntry

import sparkkinesis.bench.raw.{RawClient, RawWriter, Waiting}

/**
 * Writes at a steady rate on a thread of its own, until closed, and knows how many records had
 * arrived at any time.
 *
 * @param bytesPerSecond in records of `size` bytes
 */
final class SteadyWriter(client: RawClient, stream: String, bytesPerSecond: Int, size: Int)
    extends AutoCloseable {
  import SteadyWriter._

  private val data = SdkBytes.fromByteArrayUnsafe(RawWriter.payload(size))
  private val perRequest = (bytesPerSecond / RequestsPerSecond / size.toLong).toInt
  private val arrived = new ConcurrentSkipListMap[Long, Long](Map(0L -> 0L).asJava) // by time
  @volatile private var failure = Option.empty[Throwable]
  private val thread = new Thread(() => run(), "bench-steady")
  thread.setDaemon(true)
  thread.start()

  /** Number of records that had arrived at a time of the system's clock, in milliseconds. */
  def arrivedBy(millis: Long): Long = {
    failure.foreach(throw _)
    arrived.floorEntry(millis).getValue
  }

  /** CPU seconds of this writer since its start. */
  def cpuSeconds: Double =
    ManagementFactory.getThreadMXBean.getThreadCpuTime(thread.getId) / 1e9

  private def run(): Unit =
    try {
      var (due, sent) = (Deadline.now, 0L)
      while (true) {
        Waiting.sleep(due.timeLeft.max(Duration.Zero))
        put(sent.toInt)
        sent += perRequest
        arrived.put(System.currentTimeMillis(), sent)
        due += 1.second / RequestsPerSecond
      }
    } catch {
      case _: InterruptedException => // closed
      case e: Exception if !Thread.currentThread.isInterrupted => failure = Some(e)
      case _: Exception => // a call that the end interrupted
    }

  private def put(first: Int): Unit = {
    val entries = (first until first + perRequest).map { n =>
      PutRecordsRequestEntry.builder().partitionKey(RawWriter.evenKey(n)).data(data).build()
    }
    val answer = client.sdk.putRecords { b => b.streamName(stream).records(entries.asJava); () }
    require(answer.failedRecordCount == 0, s"${answer.failedRecordCount} records were refused.")
  }

  override def close(): Unit = {
    thread.interrupt()
    thread.join()
  }
}

private object SteadyWriter {
  val RequestsPerSecond = 20L
}
