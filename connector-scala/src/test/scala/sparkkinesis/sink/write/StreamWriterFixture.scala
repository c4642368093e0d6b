package sparkkinesis.sink.write

import org.scalatest.Assertions

import sparkkinesis.client.{ListShardsRequest, PutResult, ShardListing}
import sparkkinesis.model._
import sparkkinesis.model.aggregate.UserRecords
import sparkkinesis.sink.lane.{Request, RequestLimits}
import sparkkinesis.sink.metrics.SinkCounters
import sparkkinesis.sink.rate.TargetStream
import sparkkinesis.sink.write.StreamWriter.Next
import sparkkinesis.sink.{FakeKinesis, FastClock, SinkOptions}

/** A stream whose shards change, and a writer to it without threads. */
trait StreamWriterFixture extends Assertions {
  private val ref = StreamRef.ByName(StreamName("orders"))

  protected def shard(
      number: Int,
      range: HashKeyRange,
      isOpen: Boolean = true,
      parents: Seq[Int] = Nil
  ) =
    Shard(
      id(number),
      parents.map(id),
      range,
      SequenceNumber("1"),
      if (isOpen) None else Some(SequenceNumber("2"))
    )

  protected def id(number: Int) = ShardId(f"shardId-$number%012d")

  protected def evenShards(count: Int): Seq[Shard] =
    HashKeyRange.even(count).zipWithIndex.map { case (range, i) => shard(i, range) }

  private def limited(options: SinkOptions, limits: RequestLimits): SinkOptions =
    options.copy(maxRequestRecords = limits.records, maxRequestBytes = limits.bytes)

  /** A service that lists the shards of now. */
  protected final class World(
      var shards: Seq[Shard],
      executors: Int = 1,
      spreads: Option[Int] = None
  ) {
    val counters = new SinkCounters
    val stream = new TargetStream(
      ref,
      new FakeKinesis((_, _) => Nil) {
        override def listShards(request: ListShardsRequest): ShardListing =
          ShardListing(shards, None, None)
      },
      ServiceLimits.RecordBytes,
      spreads,
      executors,
      new FastClock
    )

    def writer(
        options: SinkOptions = SinkOptions(),
        limits: RequestLimits = RequestLimits.of(SinkOptions()),
        chance: () => Double = () => 0.5
    ) =
      new StreamWriter(stream, limited(options, limits), None, chance, counters, 0)

    /** The open shard that the hash key belongs to. */
    def owner(entry: PutEntry): ShardId = {
      val key = entry.explicitHashKey.getOrElse(HashKey.of(entry.partitionKey))
      shards.find(it => it.isOpen && it.hashKeys.contains(key)).get.id
    }

    def write(entry: PutEntry): PutResult = PutResult.Written(owner(entry), SequenceNumber("7"))

    def write(request: Request): Seq[PutResult] = request.entries.map(write)
  }

  /** The answer to a request whose records are all in one shard. */
  protected final class AnswerOfOneShard(shard: ShardId, override val length: Int)
      extends PutResult.AllWritten {
    var read = 0

    override def apply(i: Int): PutResult = {
      read += 1
      PutResult.Written(shard, SequenceNumber("7"))
    }

    override def areIn(other: ShardId, from: Int, until: Int): Boolean = other == shard
  }

  protected def add(writer: StreamWriter, key: String, text: String, now: Long = 0): Unit =
    writer.add(PutEntry(key, text.getBytes, None), now)

  protected def send(writer: StreamWriter, now: Long = 0): Request =
    writer.next(now, isUrgent = true) match {
      case Next.Send(request) => request
      case other => fail(s"$other")
    }

  protected def texts(request: Request): Seq[String] =
    request.entries.map(it => new String(it.data))

  protected val throttled = PutResult.Failed("ProvisionedThroughputExceededException", "slow down")
  protected val oops = PutResult.Failed("InternalFailure", "oops")

  /** A key of each of two shards. */
  protected val keys = {
    val ranges = HashKeyRange.even(2)
    ranges.map(r => Iterator.from(0).map(n => s"k$n").find(k => r.contains(HashKey.of(k))).get)
  }

  protected val halves = HashKeyRange.even(2)

  /** The first shard, split in two. */
  protected def split: Seq[Shard] =
    Seq(
      shard(0, HashKeyRange.All, isOpen = false),
      shard(1, halves.head, parents = Seq(0)),
      shard(2, halves.last, parents = Seq(0))
    )

  /** The two halves of `split`, merged. */
  protected def merged: Seq[Shard] =
    Seq(
      shard(1, halves.head, isOpen = false),
      shard(2, halves.last, isOpen = false),
      shard(3, HashKeyRange.All, parents = Seq(1, 2))
    )

  /** The rows of a request, taken out of their aggregates. */
  protected def rows(request: Request): Seq[String] =
    request.entries.flatMap(UserRecords.of).map(it => new String(it.data))
}
