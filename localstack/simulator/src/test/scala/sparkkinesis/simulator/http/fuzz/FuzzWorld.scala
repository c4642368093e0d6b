package sparkkinesis.simulator.http.fuzz

import java.nio.charset.StandardCharsets.UTF_8
import java.time.Instant

import sparkkinesis.client.ShardIterator
import sparkkinesis.model.{Position, PutEntry, ShardId, StreamName, StreamRef}
import sparkkinesis.simulator.fault.Fault
import sparkkinesis.simulator.http.action.Actions
import sparkkinesis.simulator.listing.ListShards
import sparkkinesis.simulator.paging.ListFilter
import sparkkinesis.simulator.service.{SimulatedClock, SimulatedKinesis}
import sparkkinesis.simulator.state.Settings

/** A small simulator, and names, tokens and numbers that mean something to it. */
private[http] final class FuzzWorld {
  import FuzzWorld._

  val clock = new SimulatedClock(Instant.parse("2026-01-01T00:00:00Z"))

  val kinesis = new SimulatedKinesis(clock, Settings(shardLimit = 64, listShardsCount = 3))

  kinesis.createStream(StreamName("given"), 2)
  kinesis.createStream(StreamName("other"), 5)

  val streams: Vector[String] = Vector("given", "other", "new")

  val arns: Vector[String] = streams.map(name => SimulatedKinesis.arn(StreamName(name)).toString)

  val operations: Vector[String] = Actions.byName.keys.toVector.sorted

  val faults: Vector[String] = Fault.simple.map(_.name).toVector :+ Fault.Stalled.Name

  val shards: Vector[String] = (0 to 6).map(i => f"shardId-$i%012d").toVector

  val numbers: Vector[String] = (1 to 20).map { i =>
    val data = s"record $i".getBytes(UTF_8)
    kinesis.putRecord(Given, PutEntry(s"key $i", data, None)).sequenceNumber.toString
  }.toVector

  val iterators: Vector[String] = (0 to 1).map { i =>
    val stream = StreamRef.ByName(Given)
    val iterator: ShardIterator =
      kinesis.shardIterator(stream, ShardId(shards(i)), Position.TrimHorizon)
    iterator.token
  }.toVector

  val pageTokens: Vector[String] = kinesis
    .run(ListShards(SimulatedKinesis.arn(Given), ListFilter.FromTrimHorizon, None, 1))
    .toOption
    .flatMap(_.nextToken)
    .toVector
}

private[http] object FuzzWorld {
  private val Given = StreamName("given")
}
