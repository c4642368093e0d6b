package sparkkinesis.simulator.contract

import scala.annotation.tailrec

import sparkkinesis.client.KinesisException
import sparkkinesis.model.{Position, PutEntry, ShardId, StreamRef}
import sparkkinesis.simulator.fanout.{Subscribed, SubscriptionEvent}
import sparkkinesis.simulator.sdk.{FanOutReading, Signal}

/** The events of a subscription. */
trait SubscriptionContract extends FanOutReading { this: ContractFixture =>
  private val Operation = "SubscribeToShard"

  contract(Operation, "a subscription starts at its position") {
    val stream = newStream(1)
    val shard = onlyShard(stream)
    val written = (1 to 4).flatMap(i => put(stream, entry("k", s"$i")))
    def from(position: Position, count: Int, name: String): Seq[String] =
      using(fanOut.subscribe(register(stream, name), shard, position)) { it =>
        texts(events(it, count))
      }
    val second = written(1).sequenceNumber
    assert(from(Position.TrimHorizon, 4, "a") == Seq("1", "2", "3", "4"))
    assert(from(Position.AtSequenceNumber(second), 3, "b") == Seq("2", "3", "4"))
    assert(from(Position.AfterSequenceNumber(second), 2, "c") == Seq("3", "4"))
    val arrival = java.time.Instant.ofEpochMilli(readAll(stream).head.arrivalMillis)
    assert(from(Position.AtTimestamp(arrival), 4, "d") == Seq("1", "2", "3", "4"))
  }

  contract(Operation, "records arrive in the order in which they are put") {
    val stream = newStream(1)
    put(stream, entry("k", "before"))
    using(fanOut.subscribe(register(stream), onlyShard(stream), Position.TrimHorizon)) { it =>
      assert(texts(events(it, 1)) == Seq("before"))
      (1 to 5).foreach { i =>
        put(stream, entry("k", s"$i"))
        val found = events(it, 1)
        assert(texts(found) == Seq(s"$i"))
        assert(found.last.millisBehindLatest == 0 && found.last.children.isEmpty)
      }
    }
  }

  contract(Operation, "each record of a backlog arrives once") {
    val stream = streamOf4MB()
    val numbers = readAll(stream).map(_.sequenceNumber)
    val found = backlog(stream)
    assert(found.flatMap(_.records).map(_.sequenceNumber) == numbers)
    assert(found.last.continuation.contains(numbers.last))
  }

  contractIf(Capability.SizesEvents)(Operation, "a backlog arrives in events of about 1 MiB") {
    val found = backlog(streamOf4MB())
    assert(found.size >= 4 && found.forall(_.records.map(_.data.length).sum <= 1024 * 1024))
  }

  contract(
    Operation,
    "a new subscription continues exactly after the continuation sequence number"
  ) {
    val stream = newStream(1)
    val (consumer, shard) = (register(stream), onlyShard(stream))
    put(stream, (1 to 3).map(i => entry("k", s"$i")): _*)
    val first = using(fanOut.subscribe(consumer, shard, Position.TrimHorizon))(events(_, 3))
    put(stream, entry("k", "4"))
    pass(Subscribed.Takeover)
    val after = Position.AfterSequenceNumber(first.last.continuation.get)
    using(fanOut.subscribe(consumer, shard, after)) { it =>
      assert(texts(events(it, 1)) == Seq("4"))
    }
  }

  contract(Operation, "an empty event has a continuation sequence number") {
    val stream = newStream(1)
    val (consumer, shard) = (register(stream), onlyShard(stream))
    val empty = using(fanOut.subscribe(consumer, shard, Position.Latest)) { it =>
      pass(Subscribed.Heartbeat)
      @tailrec def event(attempts: Int): SubscriptionEvent = {
        assert(attempts > 0, "No event.")
        it.next() match {
          case Signal.Event(event) => event
          case _ => event(attempts - 1)
        }
      }
      event(2000)
    }
    assert(empty.records.isEmpty && empty.millisBehindLatest == 0)
    put(stream, entry("k", "1"))
    pass(Subscribed.Takeover)
    val after = Position.AfterSequenceNumber(empty.continuation.get)
    using(fanOut.subscribe(consumer, shard, after))(it => assert(texts(events(it, 1)) == Seq("1")))
  }

  contract(Operation, "each consumer and each shard has a subscription of its own") {
    val stream = newStream(2)
    val (one, two) = (shards(stream).head.id, shards(stream).last.id)
    val (a, b) = (register(stream, "a"), register(stream, "b"))
    val open = Seq(a -> one, a -> two, b -> one).map { case (consumer, shard) =>
      fanOut.subscribe(consumer, shard, Position.TrimHorizon)
    }
    try {
      shards(stream).foreach(s =>
        put(stream, PutEntry("k", s.id.name.getBytes, Some(s.hashKeys.first)))
      )
      val found = open.map(it => texts(events(it, 1)))
      assert(found == Seq(Seq(one.name), Seq(two.name), Seq(one.name)))
    } finally open.foreach(_.close())
  }

  contractIf(Capability.ChecksShardOfSubscription)(
    Operation,
    "an unknown shard or consumer is not found"
  ) {
    val stream = newStream(1)
    val consumer = register(stream)
    refused[KinesisException.NotFound](
      fanOut.subscribe(consumer, ShardId("shardId-000000000099"), Position.Latest)
    )
    refused[KinesisException.NotFound](
      fanOut.subscribe(consumer.copy(name = "other"), onlyShard(stream), Position.Latest)
    )
  }

  /** 40 records. */
  private def streamOf4MB(): StreamRef = {
    val stream = newStream(1)
    val blob = new Array[Byte](100 * 1024)
    (1 to 4).foreach(_ => put(stream, Seq.fill(10)(PutEntry("k", blob, None)): _*))
    stream
  }

  private def backlog(stream: StreamRef): Vector[SubscriptionEvent] =
    using(fanOut.subscribe(register(stream), onlyShard(stream), Position.TrimHorizon)) {
      events(_, 40).filter(_.records.nonEmpty)
    }
}
