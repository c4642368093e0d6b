package sparkkinesis.spark.read

import java.time.Instant

import scala.collection.mutable
import scala.concurrent.duration._

import sparkkinesis.client._
import sparkkinesis.model._

/** A Kinesis of several streams that accepts every record, and counts its calls. */
final class ManyStreams(limits: Map[String, Int]) extends KinesisClient {
  private val current = mutable.Map.from(limits)
  private val taken = mutable.Buffer.empty[(StreamRef, PutEntry)]
  private val described = mutable.Buffer.empty[StreamRef]

  /** Thrown by the next descriptions, one each. */
  val refusals: mutable.Queue[KinesisException] = mutable.Queue.empty[KinesisException]
  var status: StreamStatus = StreamStatus.Active
  @volatile var closed = 0
  @volatile var beforeDescription: () => Unit = () => ()

  def setLimit(stream: String, bytes: Int): Unit = synchronized(current.update(stream, bytes))
  def asked: Seq[String] = synchronized(described.map(_.name.name).toVector)

  /** Stream, as it was named, and data as text. */
  def written: Seq[(String, String)] =
    synchronized(taken.map { case (ref, it) => ref.toString -> new String(it.data) }.toVector)

  def loan(): Loan[KinesisClient] = new Loan(this, () => closed += 1)

  override def describeStream(stream: StreamRef): StreamSummary = {
    beforeDescription()
    description(stream)
  }

  private def description(stream: StreamRef): StreamSummary = synchronized {
    described += stream
    if (refusals.nonEmpty) throw refusals.dequeue()
    val limit = current.getOrElse(
      stream.name.name,
      throw new KinesisException.NotFound(s"DescribeStreamSummary of $stream: not found")
    )
    val arn = StreamArn("aws", "eu-west-1", "123456789012", stream.name)
    StreamSummary(arn, status, Instant.EPOCH, 24.hours, 1, limit)
  }

  override def putRecords(stream: StreamRef, entries: Seq[PutEntry]): Seq[PutResult] =
    synchronized {
      entries.map { entry =>
        taken += (stream -> entry)
        PutResult.Written(ShardId("s"), SequenceNumber(taken.size.toString))
      }
    }

  override def listShards(request: ListShardsRequest): ShardListing = ShardListing(
    Seq(Shard(ShardId("s"), Nil, HashKeyRange.All, SequenceNumber("1"), None)),
    None,
    None
  )

  override def shardIterator(s: StreamRef, shard: ShardId, p: Position): ShardIterator = unused
  override def getRecords(stream: StreamRef, iterator: ShardIterator, limit: Int): Page = unused
  override def close(): Unit = ()

  private def unused: Nothing = throw new UnsupportedOperationException
}
