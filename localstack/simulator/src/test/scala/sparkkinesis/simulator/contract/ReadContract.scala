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
    def from(position: Position, count: Int): Seq[String] =
      read(stream, shard, position, count).map(text)
    assert(from(Position.TrimHorizon, 4) == Seq("1", "2", "3", "4"))
    assert(from(Position.Latest, 0).isEmpty)
    assert(from(Position.AtSequenceNumber(written(1).sequenceNumber), 3) == Seq("2", "3", "4"))
    assert(from(Position.AfterSequenceNumber(written(1).sequenceNumber), 2) == Seq("3", "4"))
    assert(from(Position.AfterSequenceNumber(written(3).sequenceNumber), 0).isEmpty)
  }

  contract(
    "GetShardIterator",
    "LATEST returns records that are put after the iterator was created"
  ) {
    val stream = newStream(1)
    put(stream, entry("k", "before"))
    val shard = shards(stream).head.id
    assert(read(stream, shard).map(text) == Seq("before"))
    val iterator = client.shardIterator(stream, shard, Position.Latest)
    put(stream, entry("k", "after"))
    assert(read(stream, iterator, 1).map(text) == Seq("after"))
  }

  contract(
    "GetShardIterator",
    "AT_TIMESTAMP starts with the first record that arrived at that time or later"
  ) {
    val stream = newStream(1)
    val shard = shards(stream).head.id
    val arrivals = spaced(stream, 3).map(_.arrivalMillis)
    (arrivals :+ arrivals.head - 3600000).foreach { arrival =>
      val at = Position.AtTimestamp(Instant.ofEpochMilli(arrival))
      val expected = arrivals.dropWhile(_ < arrival)
      assert(read(stream, shard, at, expected.size).map(_.arrivalMillis) == expected)
    }
  }

  contract("GetRecords", "an iterator can be used again, and starts at the same record") {
    val stream = newStream(1)
    put(stream, entry("k", "a"))
    put(stream, entry("k", "b"))
    val iterator = client.shardIterator(stream, shards(stream).head.id, Position.TrimHorizon)
    val first = pages(stream, iterator, 1)(_.exists(_.records.nonEmpty))
    assert(first.flatMap(_.records).map(text) == Seq("a"))
    assert(read(stream, iterator, 2).map(text) == Seq("a", "b"))
    assert(read(stream, first.last.next.get, 1).map(text) == Seq("b"))
  }

  contract(
    "GetRecords",
    "a page has at most `limit` records, and millisBehindLatest shows whether more follow"
  ) {
    val stream = newStream(1)
    val records = spaced(stream, 3).map(_.sequenceNumber)
    val iterator = client.shardIterator(stream, shards(stream).head.id, Position.TrimHorizon)
    val found = pages(stream, iterator, 2)(_.flatMap(_.records).size == 3)
    assert(found.forall(_.records.size <= 2))
    assert(found.flatMap(_.records).map(_.sequenceNumber) == records)
    assert(found.init.forall(_.millisBehindLatest.exists(_ > 0)) && found.last.isAtTip)
    assert(found.last.next.nonEmpty && found.last.children.isEmpty)
  }

  contract("GetRecords", "a page has at most 10 MiB") {
    val stream = newStream(1)
    val blob = new Array[Byte](900 * 1024)
    (1 to 3).foreach(_ => put(stream, Seq.fill(4)(PutEntry("k", blob, None)): _*))
    val iterator = client.shardIterator(stream, shards(stream).head.id, Position.TrimHorizon)
    val found = pages(stream, iterator)(_.map(_.records.size).sum == 12).map(_.records)
    assert(found.flatten.size == 12)
    assert(found.forall(_.map(_.data.length).sum <= ServiceLimits.GetRecordsBytes))
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
    pass(23.hours)
    put(stream, entry("k", "new"))
    assert(readAll(stream).map(text) == Seq("old", "new"))
    pass(1.hour + 1.milli)
    assert(readAll(stream).map(text) == Seq("new"))
    val at = Position.AtSequenceNumber(old)
    assert(read(stream, shard, at, 1).map(text) == Seq("new"))
  }
}
