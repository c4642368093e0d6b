package sparkkinesis.bench.raw

import java.net.URI
import java.util.concurrent.atomic.AtomicLong
import java.util.concurrent.{Callable, Executors, Future, Semaphore}

import scala.annotation.tailrec
import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.util.{Random, Using}

import software.amazon.awssdk.core.SdkBytes
import software.amazon.awssdk.services.kinesis.model.PutRecordsRequestEntry

import org.apache.spark.sql.{DataFrame, Row}

/** `PutRecords` in a loop: four threads, full requests, and failed records again after a pause. */
object RawWriter {
  private val Limit = 2.minutes
  private val RequestRecords = 500

  /** Two tasks have as many threads as the other loops. */
  private val TaskThreads = RawClient.Threads / 2
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

  /**
   * Writes the rows of a DataFrame with the columns `partitionKey` and `data`, as a Spark program
   * without a connector would do it: in each of its two tasks, two threads send what the task's
   * thread collects.
   */
  def putRows(rows: DataFrame, endpoint: URI, stream: String): Unit =
    rows.foreachPartition((partition: Iterator[Row]) => putPartition(partition, endpoint, stream))

  private def putPartition(rows: Iterator[Row], endpoint: URI, stream: String): Unit =
    Using.resource(new RawClient(endpoint)) { client =>
      val pool = Executors.newFixedThreadPool(TaskThreads)
      val free = new Semaphore(2 * TaskThreads)
      val refused = new AtomicLong
      def put(entries: Seq[PutRecordsRequestEntry]): Future[Unit] = {
        free.acquire()
        val call: Callable[Unit] = () =>
          try putAll(client, stream, entries, refused)
          finally free.release()
        pool.submit(call)
      }
      try rows.map(entry).grouped(RequestRecords).map(put).toVector.foreach(_.get())
      finally pool.shutdownNow(): Unit
    }

  private def entry(row: Row): PutRecordsRequestEntry = PutRecordsRequestEntry
    .builder()
    .partitionKey(row.getString(0))
    .data(SdkBytes.fromByteArrayUnsafe(row.getAs[Array[Byte]](1)))
    .build()

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
