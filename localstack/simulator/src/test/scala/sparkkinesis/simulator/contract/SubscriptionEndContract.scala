package sparkkinesis.simulator.contract

import scala.concurrent.duration._

import sparkkinesis.client.{ConsumerRef, KinesisException}
import sparkkinesis.model.{ChildShard, Position, PutEntry}
import sparkkinesis.simulator.fanout.Subscribed
import sparkkinesis.simulator.sdk.{FanOutReading, FanOutSubscription, Signal}

/** The ends of subscriptions. */
trait SubscriptionEndContract extends FanOutReading { this: ContractFixture =>
  private val Operation = "SubscribeToShard"

  contractIf(Capability.EndsSubscriptions)(
    Operation,
    "the last event of a shard that was split names the children"
  ) {
    val stream = newStream(1)
    val parent = shards(stream).head
    put(stream, entry("k", "1"))
    using(fanOut.subscribe(register(stream), parent.id, Position.TrimHorizon)) { it =>
      val before = events(it, 1)
      admin.splitShard(stream.name, parent.id, middle(parent.hashKeys))
      val (rest, end) = toEnd(it)
      assert(end == Signal.Completed)
      assert(texts(before ++ rest) == Seq("1"))
      val last = rest.last
      assert(last.continuation.isEmpty)
      val children = shards(stream).filter(_.parents.nonEmpty)
      assert(
        last.children.sortBy(_.id) == children.map(s => ChildShard(s.id, s.parents, s.hashKeys))
      )
    }
  }

  contractIf(Capability.EndsSubscriptions)(
    Operation,
    "a subscription to a closed shard returns its records and ends"
  ) {
    val stream = newStream(2)
    val parents = shards(stream)
    put(stream, PutEntry("l", "1".getBytes, Some(parents.head.hashKeys.first)))
    admin.mergeShards(stream.name, parents.head.id, parents.last.id)
    val consumer = register(stream)
    val subscription = fanOut.subscribe(consumer, parents.head.id, Position.TrimHorizon)
    val (found, end) = using(subscription)(toEnd)
    assert(end == Signal.Completed && texts(found) == Seq("1"))
    assert(found.last.children.map(_.parents) == Seq(parents.map(_.id)))
  }

  contractIf(Capability.RefusesEarlySubscriptions)(
    Operation,
    "a second subscription is refused for five seconds, and then replaces the first"
  ) {
    val stream = newStream(1)
    val (consumer, shard) = (register(stream), onlyShard(stream))
    using(fanOut.subscribe(consumer, shard, Position.Latest)) { first =>
      pass(Subscribed.Takeover - moment)
      refused[KinesisException.InUse](fanOut.subscribe(consumer, shard, Position.Latest))
      pass(moment)
      using(fanOut.subscribe(consumer, shard, Position.Latest)) { second =>
        put(stream, entry("k", "1"))
        assert(texts(events(second, 1)) == Seq("1"))
        toEnd(first) match {
          case (_, Signal.Failed(cause)) => assert(cause.isInstanceOf[KinesisException.InUse])
          case (_, other) => fail(s"Not taken over: $other")
        }
      }
    }
  }

  contractIf(Capability.MovesTime)(Operation, "a subscription ends normally after five minutes") {
    val stream = newStream(1)
    val (consumer, shard) = (register(stream), onlyShard(stream))
    using(fanOut.subscribe(consumer, shard, Position.TrimHorizon)) { it =>
      pass(Subscribed.Lifetime - 10.seconds)
      put(stream, entry("k", "1"))
      assert(texts(events(it, 1)) == Seq("1"))
      pass(10.seconds)
      assert(toEnd(it)._2 == Signal.Completed)
    }
    val after = Position.TrimHorizon
    using(fanOut.subscribe(consumer, shard, after))(it => assert(texts(events(it, 1)) == Seq("1")))
  }

  contractIf(Capability.EndsSubscriptions)(
    Operation,
    "a subscription ends when its stream or its consumer is deleted"
  ) {
    val stream = newStream(1)
    val (one, two) = (register(stream, "one"), register(stream, "two"))
    val shard = onlyShard(stream)
    def gone(subscription: FanOutSubscription): Unit = toEnd(subscription)._2 match {
      case Signal.Failed(cause) => assert(cause.isInstanceOf[KinesisException.NotFound]): Unit
      case other => fail(s"Not gone: $other")
    }
    using(fanOut.subscribe(one, shard, Position.Latest)) { first =>
      using(fanOut.subscribe(two, shard, Position.Latest)) { second =>
        fanOut.deregister(ConsumerRef.ByArn(one))
        gone(first)
        fanOut.deleteStream(two.stream)
        gone(second)
      }
    }
  }
}
