package sparkkinesis.bench.raw

import java.util.concurrent.atomic.AtomicLong

import scala.annotation.tailrec
import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.util.Random

import software.amazon.awssdk.core.SdkBytes
import software.amazon.awssdk.services.kinesis.model.PutRecordsRequestEntry

/** `PutRecords` in a loop: four threads, full requests, and failed records again after a pause. */
object RawWriter {
  private val Limit = 2.minutes
  private val RequestRecords = 500
  private val Pause = 100.millis

  /** The same random bytes each time, which cannot be compressed. */
  def payload(size: Int): Array[Byte] = {
    val bytes = new Array[Byte](size)
    new Random(1).nextBytes(bytes)
    bytes
  }

  /**
   * Writes records with numbers from 0.
   *
   * @param key returns the key of a number
   * @return number of entries that were refused and sent again
   */
  def put(client: RawClient, stream: String, count: Int, size: Int)(key: Int => String): Long = {
    val data = SdkBytes.fromByteArrayUnsafe(payload(size))
    val refused = new AtomicLong
    val requests = (0 until count by RequestRecords).iterator
    def next(): Option[Int] = requests.synchronized(requests.nextOption())
    val tasks = Seq.fill(RawClient.Threads) { () =>
      Iterator.continually(next()).takeWhile(_.nonEmpty).flatten.foreach { first =>
        val entries = (first until math.min(first + RequestRecords, count))
          .map(n => PutRecordsRequestEntry.builder().partitionKey(key(n)).data(data).build())
        putAll(client, stream, entries, refused)
      }
    }
    RawClient.inParallel(tasks, Limit)
    refused.get
  }

  /** Keys that spread evenly over any number of shards. */
  def evenKey(number: Int): String = s"k${number * 7919L}"

  @tailrec
  private def putAll(
      client: RawClient,
      stream: String,
      entries: Seq[PutRecordsRequestEntry],
      refused: AtomicLong
  ): Unit = {
    val answer = client.sdk.putRecords { b => b.streamName(stream).records(entries.asJava); () }
    if (answer.failedRecordCount > 0) {
      val failed =
        entries.zip(answer.records.asScala).collect { case (e, r) if r.errorCode != null => e }
      refused.addAndGet(failed.size.toLong)
      Waiting.sleep(Pause)
      putAll(client, stream, failed, refused)
    }
  }
}
