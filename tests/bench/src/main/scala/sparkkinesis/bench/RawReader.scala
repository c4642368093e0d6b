package sparkkinesis.bench

import java.util.concurrent.atomic.AtomicLong

import scala.annotation.tailrec
import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

/** `GetRecords` in a loop: four threads over the shards, each shard to its tip. */
object RawReader {
  private val Limit = 2.minutes
  private val PageRecords = 10000

  /** @throws IllegalStateException where other than the expected records were found */
  def drain(client: RawClient, stream: String, expected: Long): Unit = {
    val (records, bytes) = (new AtomicLong, new AtomicLong)
    val tasks = client.shards(stream).map { shard => () =>
      val first = client.iterator(stream, shard, "TRIM_HORIZON")
      drain(client, first, records, bytes)
    }
    RawClient.inParallel(tasks, Limit)
    if (records.get != expected)
      throw new IllegalStateException(s"The raw loop read $records of $expected records.")
  }

  @tailrec
  private def drain(
      client: RawClient,
      iterator: String,
      records: AtomicLong,
      bytes: AtomicLong
  ): Unit = {
    val page = client.sdk.getRecords { b => b.shardIterator(iterator).limit(PageRecords); () }
    records.addAndGet(page.records.size.toLong)
    page.records.asScala.foreach(r => bytes.addAndGet(r.data.asByteArrayUnsafe.length.toLong))
    val isDone = page.millisBehindLatest == 0 || page.nextShardIterator == null
    if (!isDone) drain(client, page.nextShardIterator, records, bytes)
  }
}
