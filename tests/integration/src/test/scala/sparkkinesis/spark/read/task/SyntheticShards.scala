package sparkkinesis.spark.read.task

import java.nio.charset.StandardCharsets.ISO_8859_1
import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.client._
import sparkkinesis.model._

/**
 * A stream whose shards have a backlog of equal pages, made when they are asked for. Record `n` of
 * a shard has the sequence number `n`.
 *
 * @param pages of each shard
 */
final class SyntheticShards(shardCount: Int, pages: Int) extends KinesisClient {
  import SyntheticShards._

  val arn: StreamArn = StreamArn("aws", "eu-west-1", "123456789012", StreamName("orders"))
  private val arrivalMillis = SystemClock.now.toEpochMilli
  private val all = HashKeyRange.even(shardCount).zipWithIndex.map { case (keys, index) =>
    Shard(ShardId(f"shardId-$index%012d"), Seq.empty, keys, SequenceNumber("1"), None)
  }

  override def describeStream(stream: StreamRef): StreamSummary =
    StreamSummary(arn, StreamStatus.Active, Instant.EPOCH, 1.day, shardCount, 1 << 20)

  override def listShards(request: ListShardsRequest): ShardListing = ShardListing(all, None, None)

  override def shardIterator(stream: StreamRef, shard: ShardId, position: Position): ShardIterator =
    position match {
      case Position.AfterSequenceNumber(number) => ShardIterator(number.text)
      case _ => ShardIterator("0")
    }

  override def getRecords(stream: StreamRef, iterator: ShardIterator, limit: Int): Page = {
    val before = iterator.token.toInt
    if (before >= pages * PageRecords) Page(IndexedSeq.empty, Some(iterator), 0, Seq.empty)
    else {
      val last = before + PageRecords
      val behind = if (last < pages * PageRecords) 60000L else 0L
      Page(records(before), Some(ShardIterator(last.toString)), behind, Seq.empty)
    }
  }

  private def records(before: Int): PackedRecords = {
    val content = new Array[Byte](PageRecords * (RecordBytes + NumberBytes))
    val builder = new PackedRecords.Builder(content, PageRecords)
    (0 until PageRecords).foreach { index =>
      val begin = index * (RecordBytes + NumberBytes)
      val number = (before + index + 1).toString.getBytes(ISO_8859_1)
      System.arraycopy(number, 0, content, begin + RecordBytes, number.length)
      builder.data(begin, begin + RecordBytes)
      builder.number(begin + RecordBytes, begin + RecordBytes + number.length)
      builder.add(arrivalMillis, None)
    }
    builder.result()
  }

  override def putRecords(stream: StreamRef, entries: Seq[PutEntry]): Seq[PutResult] =
    throw new UnsupportedOperationException("Nothing is written to this stream.")

  override def close(): Unit = ()
}

object SyntheticShards {
  val RecordBytes = 20000
  val PageRecords = 100
  private val NumberBytes = 10
}
