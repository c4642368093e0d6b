package sparkkinesis.simulator.contract

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.client.{KinesisException, ShardIterator}
import sparkkinesis.model.{Position, PutEntry, ServiceLimits}

/** Reading records: iterators and pages. */
trait ReadContract { this: ContractFixture =>
  contract("GetShardIterator", "an iterator starts at its position") {
    val stream = newStream(1)
    val shard = shards(stream).head.id
    val written = (1 to 4).flatMap(i => put(stream, entry("k", s"$i")))
    def from(position: Position): Seq[String] = read(stream, shard, position).records.map(text)
    assert(from(Position.TrimHorizon) == Seq("1", "2", "3", "4"))
    assert(from(Position.Latest).isEmpty)
    assert(from(Position.AtSequenceNumber(written(1).sequenceNumber)) == Seq("2", "3", "4"))
    assert(from(Position.AfterSequenceNumber(written(1).sequenceNumber)) == Seq("3", "4"))
    assert(from(Position.AfterSequenceNumber(written(3).sequenceNumber)).isEmpty)
  }

  contract(
    "GetShardIterator",
    "LATEST returns records that are put after the iterator was created"
  ) {
    val stream = newStream(1)
    put(stream, entry("k", "before"))
    val shard = shards(stream).head.id
    val iterator = client.shardIterator(stream, shard, Position.Latest)
    put(stream, entry("k", "after"))
    assert(client.getRecords(stream, iterator, 10).records.map(text) == Seq("after"))
  }

  contract(
    "GetShardIterator",
    "AT_TIMESTAMP starts with the first record that arrived at that time or later"
  ) {
    val stream = newStream(1)
    val shard = shards(stream).head.id
    val arrivals = spaced(stream, 3).map(_.arrivalMillis)
    arrivals.zipWithIndex.foreach { case (arrival, i) =>
      val at = Position.AtTimestamp(Instant.ofEpochMilli(arrival))
      assert(read(stream, shard, at).records.map(_.arrivalMillis) == arrivals.drop(i))
    }
    val early = Position.AtTimestamp(Instant.ofEpochMilli(arrivals.head - 3600000))
    assert(read(stream, shard, early).records.size == 3)
  }

  contract("GetRecords", "an iterator can be used again, and returns the same page") {
    val stream = newStream(1)
    put(stream, entry("k", "a"))
    put(stream, entry("k", "b"))
    val iterator = client.shardIterator(stream, shards(stream).head.id, Position.TrimHorizon)
    val first = client.getRecords(stream, iterator, 1)
    assert(client.getRecords(stream, iterator, 1).records.map(text) == first.records.map(text))
    val rest = client.getRecords(stream, first.next.get, 10)
    assert((first.records ++ rest.records).map(text) == Seq("a", "b"))
  }

  contract(
    "GetRecords",
    "a page has at most `limit` records, and millisBehindLatest shows whether more follow"
  ) {
    val stream = newStream(1)
    spaced(stream, 3)
    val iterator = client.shardIterator(stream, shards(stream).head.id, Position.TrimHorizon)
    val page = client.getRecords(stream, iterator, 2)
    assert(page.records.size == 2 && page.millisBehindLatest.exists(_ > 0))
    val last = client.getRecords(stream, page.next.get, 2)
    assert(last.records.size == 1 && last.isAtTip)
    assert(last.next.nonEmpty && last.children.isEmpty)
  }

  contract("GetRecords", "a page has at most 10 MiB") {
    val stream = newStream(1)
    val blob = new Array[Byte](900 * 1024)
    (1 to 3).foreach(_ => put(stream, Seq.fill(4)(PutEntry("k", blob, None)): _*))
    val iterator = client.shardIterator(stream, shards(stream).head.id, Position.TrimHorizon)
    val page = client.getRecords(stream, iterator, 100)
    assert(page.records.map(_.data.length).sum <= ServiceLimits.GetRecordsBytes)
    assert(page.records.size == 11)
    assert(client.getRecords(stream, page.next.get, 100).records.size == 1)
  }

  contract("GetRecords", "the limit of a page is 1 to 10,000") {
    val stream = newStream(1)
    val iterator = client.shardIterator(stream, shards(stream).head.id, Position.TrimHorizon)
    Seq(0, 10001).foreach { limit =>
      refused[KinesisException.InvalidArgument](client.getRecords(stream, iterator, limit))
    }
    assert(client.getRecords(stream, iterator, 10000).records.isEmpty)
  }

  contractIf(Capability.RefusesForeignIterators)("GetRecords", "an invalid iterator is refused") {
    val stream = newStream(1)
    refused[KinesisException.InvalidArgument](
      client.getRecords(stream, ShardIterator("AAAAnonsense"), 10)
    )
  }

  contractIf(Capability.MovesTime)("GetRecords", "an iterator expires after five minutes") {
    val stream = newStream(1)
    val iterator = client.shardIterator(stream, shards(stream).head.id, Position.TrimHorizon)
    pass(5.minutes)
    assert(client.getRecords(stream, iterator, 1).records.isEmpty)
    pass(1.milli)
    refused[KinesisException.IteratorExpired](client.getRecords(stream, iterator, 1))
  }

  contractIf(Capability.MovesTime)(
    "GetRecords",
    "records older than the retention period are trimmed"
  ) {
    val stream = newStream(1)
    val shard = shards(stream).head.id
    val old = put(stream, entry("k", "old")).head.sequenceNumber
    pass(24.hours)
    put(stream, entry("k", "new"))
    assert(readAll(stream).map(text) == Seq("old", "new"))
    pass(1.milli)
    assert(readAll(stream).map(text) == Seq("new"))
    assert(read(stream, shard, Position.AtSequenceNumber(old)).records.map(text) == Seq("new"))
  }
}
