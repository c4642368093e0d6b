package sparkkinesis.simulator.contract

import scala.concurrent.duration._
import scala.reflect.ClassTag

import sparkkinesis.client.{KinesisException, Page, PutResult, ShardIterator}
import sparkkinesis.model.{HashKey, Position, PutEntry, ShardId, StreamRef}

/** Limits of throughput and of calls. Exact, so the time of the service must stand still. */
trait QuotaContract { this: ContractFixture =>
  private val Limit = 1024 * 1024
  private val Throttled = "ProvisionedThroughputExceededException"

  limited(
    "PutRecords",
    "a shard accepts 1 MiB per second with keys, and refuses the other records one by one"
  ) {
    val stream = settled(1)
    val (half, most) = (blob(Limit / 2), blob(Limit / 2 + 1))
    val results = client.putRecords(stream, Seq(half, most, half, blob(1), blob(1)))
    assert(taken(results) == Seq(true, false, true, false, false))
    val failed = results.collect { case failed: PutResult.Failed => failed }
    assert(failed.forall(_.errorCode == Throttled))
    val named = s"Rate exceeded for shard shardId-000000000000 in stream ${stream.name} under"
    assert(failed.forall(_.message.startsWith(named)))
    pass(500.millis)
    assert(taken(client.putRecords(stream, Seq(most, half))) == Seq(false, true))
    pass(1.second)
    assert(readAll(stream).size == 3)
  }

  limited("PutRecords", "a shard accepts 1,000 records per second") {
    val stream = settled(1)
    val five = Seq.fill(500)(blob(1))
    assert(
      taken(client.putRecords(stream, five) ++ client.putRecords(stream, five)).forall(identity)
    )
    assert(!taken(client.putRecords(stream, five)).exists(identity))
    pass(100.millis)
    assert(taken(client.putRecords(stream, five)).count(identity) == 100)
  }

  limited("PutRecords", "a shard at its limit does not affect the other shards") {
    val stream = settled(2)
    val keys = shards(stream).map(_.hashKeys.first)
    def full(key: HashKey) = blob(Limit, Some(key))
    val results = client.putRecords(stream, Seq(full(keys(0)), full(keys(0)), full(keys(1))))
    assert(taken(results) == Seq(true, false, true))
  }

  limited("PutRecord", "a single record beyond the limit fails the call") {
    val stream = settled(1)
    admin.putRecord(stream.name, blob(Limit))
    refused[KinesisException.Throttled](admin.putRecord(stream.name, blob(1)))
    pass(1.milli)
    admin.putRecord(stream.name, blob(1))
  }

  limited(
    "PutRecords",
    "a record larger than the rate passes if the shard has no debt, which it then pays back"
  ) {
    val stream = settled(1)
    admin.updateMaxRecordSize(stream.name, 10 * 1024)
    def put(size: Int) = taken(client.putRecords(stream, Seq(blob(size)))).head
    assert(put(10 * Limit - 100) && !put(1))
    pass(9.seconds)
    assert(!put(10 * Limit - 100) && put(1))
    pass(1.second)
    assert(put(10 * Limit - 100))
  }

  limited(
    "GetRecords",
    "a shard can be read five times per second, and a refused call does not count"
  ) {
    val stream = settled(2)
    val iterators = shards(stream).map(shard => iterator(stream, shard.id))
    def read(from: ShardIterator): Page = client.getRecords(stream, from, 1)
    exactly[KinesisException.Throttled](5)(read(iterators.head))
    read(iterators.last)
    pass(199.millis)
    (1 to 5).foreach(_ => refused[KinesisException.Throttled](read(iterators.head)))
    pass(1.milli)
    exactly[KinesisException.Throttled](1)(read(iterators.head))
  }

  limited("GetRecords", "a read of 10 MiB is paid back in 5 seconds, at 2 MiB per second") {
    val stream = settled(1)
    (1 to 10).foreach { _ =>
      put(stream, blob(Limit))
      pass(1.second)
    }
    put(stream, blob(1))
    val first = client.getRecords(stream, iterator(stream, shards(stream).head.id), 100)
    assert(first.records.size == 10)
    pass(4999.millis)
    refused[KinesisException.Throttled](client.getRecords(stream, first.next.get, 100))
    pass(1.milli)
    assert(client.getRecords(stream, first.next.get, 100).records.size == 1)
  }

  limited("GetShardIterator", "a shard gives five iterators per second") {
    val stream = settled(1)
    val shard = shards(stream).head.id
    exactly[KinesisException.Throttled](5)(iterator(stream, shard))
    pass(200.millis)
    exactly[KinesisException.Throttled](1)(iterator(stream, shard))
  }

  limited("ListShards", "the shards of a stream can be listed 1,000 times per second") {
    val (stream, other) = (settled(1), newStream(1))
    exactly[KinesisException.LimitExceeded](1000)(shards(stream))
    shards(other)
  }

  limited("DescribeStreamSummary", "an account can describe streams 20 times per second") {
    val stream = settled(1)
    pass(1.second)
    exactly[KinesisException.LimitExceeded](20)(client.describeStream(stream))
    pass(50.millis)
    exactly[KinesisException.LimitExceeded](1)(client.describeStream(stream))
  }

  limited("ListStreams", "an account can list its streams five times per second") {
    settled(1)
    exactly[KinesisException.LimitExceeded](5)(admin.listStreams())
  }

  limited("CreateStream", "an account can create five streams per second") {
    settled(1) // the first of the five
    exactly[KinesisException.LimitExceeded](4)(newStream(1))
  }

  limited("UpdateShardCount", "a stream can be scaled ten times in any 24 hours") {
    val stream = settled(1)
    def scale(): Unit =
      admin.updateShardCount(stream.name, if (shards(stream).count(_.isOpen) == 1) 2 else 1)
    (1 to 10).foreach { _ =>
      scale()
      pass(1.hour)
    }
    refused[KinesisException.LimitExceeded](scale())
    pass(14.hours - 1.milli)
    refused[KinesisException.LimitExceeded](scale())
    pass(1.milli)
    exactly[KinesisException.LimitExceeded](1)(scale())
  }

  private def limited(operation: String, name: String)(body: => Any): Unit =
    contractIf(Capability.Quotas, Capability.MovesTime)(operation, name)(body)

  /** A new stream; what earlier tests used of the account's limits is there again. */
  private def settled(shards: Int): StreamRef.ByName = {
    pass(1.second)
    newStream(shards)
  }

  /** Checks that so many calls pass, and the next one is refused. */
  private def exactly[E <: KinesisException: ClassTag](count: Int)(call: => Any): Unit = {
    (1 to count).foreach(_ => call)
    refused[E](call)
  }

  /** @param size with the partition key */
  private def blob(size: Int, key: Option[HashKey] = None): PutEntry =
    PutEntry("k", new Array[Byte](size - 1), key)

  private def taken(results: Seq[PutResult]): Seq[Boolean] = results.map {
    case _: PutResult.Written => true
    case _: PutResult.Failed => false
  }

  private def iterator(stream: StreamRef, shard: ShardId): ShardIterator =
    client.shardIterator(stream, shard, Position.TrimHorizon)
}
