package sparkkinesis.sink.write

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client.{KinesisException, PutResult}
import sparkkinesis.model.aggregate.UserRecords
import sparkkinesis.model.{HashKey, SequenceNumber}
import sparkkinesis.sink.lane.Lane
import sparkkinesis.sink.metrics.SinkCounter._
import sparkkinesis.sink.write.StreamWriter.Next
import sparkkinesis.sink.{AggregateLimits, SinkOptions}

/** Aggregated records, and those that land in another shard than predicted. */
class StreamWriterAggregateSuite extends AnyFunSuite with StreamWriterFixture {
  private val aggregating = SinkOptions(aggregation = Some(AggregateLimits(1200, 100)))
  private val both = aggregating.copy(isOrdered = true)

  test("the records of a lane form aggregates, limited by size and count") {
    val world = new World(evenShards(1))
    val writer = world.writer(aggregating)
    (1 to 250).foreach(n => add(writer, "k", n.toString))
    val request = send(writer)
    assert(request.records.map(_.userRecords).toSeq === Seq(100, 100, 50))
    assert(
      request.entries.flatMap(UserRecords.of).map(it => new String(it.data).toInt) === (1 to 250)
    )
    writer.answered(request, world.write(request), 1)
    assert(world.counters(RecordsWritten) === 250 && world.counters(SentRecords) === 3)
    assert(world.counters(KinesisRecordsWritten) === 3)
    assert(world.counters(KinesisBytesWritten) === request.records.map(_.size).sum)
    val shard = writer.traffic(1).head
    assert((shard.shard, shard.shards, shard.records) === ((id(0).toString, 1, 3)))
    assert(shard.bytes === request.records.map(_.size).sum)
    (1 to 3).foreach(_ => add(writer, "k", "x" * 400))
    assert(send(writer, 1).records.map(_.userRecords).toSeq === Seq(2, 1))
  }

  test("an aggregate is written once, and is whole for KCL, although its shard was split") {
    val world = new World(evenShards(1))
    val writer = world.writer(aggregating)
    keys.foreach(add(writer, _, "1"))
    world.shards = split
    val request = send(writer)
    val entry = request.entries.head
    assert(UserRecords.of(entry).map(_.explicitHashKey) === Seq.fill(2)(entry.explicitHashKey))
    writer.answered(request, world.write(request), 1)
    assert(world.counters(RecordsWritten) === 2 && world.counters.bufferedRecords === 0)
    assert(writer.needsShards(1))
  }

  test("an aggregate that failed before a reshard is sent again as it was, and no more") {
    val world = new World(evenShards(1))
    val writer = world.writer(aggregating)
    keys.foreach(add(writer, _, "1"))
    val first = send(writer)
    writer.failed(first, new KinesisException.Unreachable("no answer"), 1)
    world.shards = split
    writer.listed(world.stream.shardsAfter(writer.shards), 2)
    assert(send(writer, 500).entries === first.entries)
  }

  test("ordered: an aggregate with a record of another shard is sent again as a whole") {
    val world = new World(evenShards(1))
    val writer = world.writer(both)
    keys.foreach(add(writer, _, "1"))
    world.shards = split
    val request = send(writer)
    writer.answered(request, world.write(request), 1)
    assert(world.counters.bufferedRecords === 2, "it is not acknowledged yet")
    assert(writer.needsShards(1))
    writer.listed(world.stream.shardsAfter(writer.shards), 2)
    val next = send(writer, 2)
    assert(texts(next) === Seq("1", "1") && world.counters(MisplacedAggregates) === 1)
    writer.answered(next, world.write(next), 3)
    assert(world.counters.bufferedRecords === 0 && world.counters(RecordsWritten) === 2)
  }

  test("ordered: an aggregate whose records all belong to the other shard stays there") {
    val world = new World(evenShards(1))
    val writer = world.writer(both)
    (1 to 3).foreach(n => add(writer, keys.head, n.toString))
    world.shards = split
    val request = send(writer)
    writer.answered(request, world.write(request), 1)
    assert(world.counters.bufferedRecords === 3)
    writer.listed(world.stream.shardsAfter(writer.shards), 2)
    assert(writer.next(2, isUrgent = true) === Next.Wait(Lane.Never))
    assert(world.counters.bufferedRecords === 0 && world.counters(MisplacedAggregates) === 0)
  }

  test("ordered: a misplaced aggregate holds its lane, and is sent before waiting records") {
    val world = new World(evenShards(1))
    val writer = world.writer(both)
    keys.foreach(key => Seq("1", "2").foreach(add(writer, key, _)))
    world.shards = split
    val request = send(writer)
    keys.foreach(add(writer, _, "3"))
    writer.answered(request, world.write(request), 1)
    assert(writer.next(1, isUrgent = true) === Next.Wait(Lane.Never))
    writer.listed(world.stream.shardsAfter(writer.shards), 2)
    assert(rows(send(writer, 2)) === Seq("1", "2", "3", "1", "2", "3"))
  }

  test("ordered: a misplaced aggregate holds its lane even if the lanes change before a listing") {
    val world = new World(evenShards(1))
    val writer = world.writer(both)
    keys.foreach(add(writer, _, "1"))
    val request = send(writer)
    keys.foreach(add(writer, _, "2"))
    writer.answered(
      request,
      request.entries.map(_ => PutResult.Written(id(4), SequenceNumber("7"))),
      1
    )
    world.shards = split
    writer.listed(world.stream.shardsAfter(writer.shards), 2)
    assert(writer.next(2, isUrgent = true) === Next.Wait(Lane.Never))
    val (low, high) = halves.head.splitAt(HashKey(7))
    world.shards = split ++ Seq(shard(3, low, parents = Seq(1)), shard(4, high, parents = Seq(1)))
    writer.listed(world.stream.shardsAfter(writer.shards), 3)
    assert(rows(send(writer, 3)) === Seq("1", "2", "1", "2"))
  }

  test("ordered: a single record that moves to another lane does not overtake an aggregate") {
    val world = new World(evenShards(1))
    val writer = world.writer(both.copy(aggregation = Some(AggregateLimits(1000, 2))))
    (1 to 3).foreach(n => add(writer, keys.head, n.toString))
    val first = send(writer)
    writer.failed(first, new KinesisException.Unreachable("no answer"), 1)
    world.shards = split
    writer.listed(world.stream.shardsAfter(writer.shards), 2)
    assert(rows(send(writer, 500)) === Seq("1", "2"))
  }
}
