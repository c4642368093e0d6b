package sparkkinesis.simulator

import scala.annotation.tailrec
import scala.concurrent.duration._

import sparkkinesis.client.KinesisException
import sparkkinesis.model._

/** Enhanced fan-out: consumers and their subscriptions. */
trait FanOutContract { this: ContractFixture =>
  protected def fanOut: FanOutCalls

  private val Operation = "SubscribeToShard"

  private def register(stream: StreamRef, name: String = "consumer"): ConsumerArn =
    fanOut.register(client.describeStream(stream).arn, name).arn

  private def onlyShard(stream: StreamRef): ShardId = shards(stream).head.id

  private def moved(duration: FiniteDuration): Unit = capabilities.advance.foreach(_(duration))

  /** The events up to the one that completes so many records; fails rather than wait for ever. */
  private def events(of: FanOutSubscription, records: Int): Vector[SubscriptionEvent] = {
    @tailrec def more(found: Vector[SubscriptionEvent], attempts: Int): Vector[SubscriptionEvent] =
      if (found.map(_.records.size).sum >= records) found
      else {
        assert(attempts > 0, s"Only ${found.map(_.records.size).sum} of $records records came.")
        of.next() match {
          case Signal.Event(event) => more(found :+ event, attempts - 1)
          case Signal.Quiet => more(found, attempts - 1)
          case ended => fail(s"Ended too soon: $ended")
        }
      }
    more(Vector.empty, 2000)
  }

  /** Reads on to the end, which is returned with the events before it. */
  private def toEnd(of: FanOutSubscription): (Vector[SubscriptionEvent], Signal) = {
    @tailrec def more(
        found: Vector[SubscriptionEvent],
        attempts: Int
    ): (Vector[SubscriptionEvent], Signal) = {
      assert(attempts > 0, "No end of the subscription in sight.")
      of.next() match {
        case Signal.Event(event) => more(found :+ event, attempts - 1)
        case Signal.Quiet => more(found, attempts - 1)
        case ended => (found, ended)
      }
    }
    more(Vector.empty, 2000)
  }

  private def texts(events: Vector[SubscriptionEvent]): Seq[String] =
    events.flatMap(_.records).map(text)

  private def using[A](subscription: FanOutSubscription)(use: FanOutSubscription => A): A =
    try use(subscription)
    finally subscription.close()

  contract("RegisterStreamConsumer", "a consumer is described, listed and deregistered") {
    val stream = newStream(1)
    val arn = client.describeStream(stream).arn
    val made = fanOut.register(arn, "one")
    assert(made.arn.stream == arn && made.arn.name == "one")
    val byArn = fanOut.describe(ConsumerRef.ByArn(made.arn))
    assert(byArn.status == ConsumerStatus.Active && byArn.arn == made.arn)
    assert(byArn.created.getEpochSecond == made.arn.createdSecond)
    assert(fanOut.describe(ConsumerRef.ByName(arn, "one")) == byArn)
    register(stream, "two")
    assert(fanOut.list(arn, None, 100).consumers.map(_.arn.name).toSet == Set("one", "two"))
    fanOut.deregister(ConsumerRef.ByArn(made.arn))
    assert(fanOut.list(arn, None, 100).consumers.map(_.arn.name) == Seq("two"))
    refused[KinesisException.NotFound](fanOut.describe(ConsumerRef.ByArn(made.arn)))
    refused[KinesisException.NotFound](fanOut.deregister(ConsumerRef.ByName(arn, "one")))
  }

  contract("RegisterStreamConsumer", "a name is given once in a stream") {
    val stream = newStream(1)
    register(stream)
    refused[KinesisException.InUse](register(stream))
    register(newStream(1))
  }

  contract("RegisterStreamConsumer", "a stream has at most 20 consumers") {
    val arn = client.describeStream(newStream(1)).arn
    (1 to 20).foreach(i => fanOut.register(arn, s"consumer-$i"))
    refused[KinesisException.LimitExceeded](fanOut.register(arn, "one-more"))
    fanOut.deregister(ConsumerRef.ByName(arn, "consumer-7"))
    fanOut.register(arn, "one-more")
  }

  contractIf(
    capabilities.pagesConsumers,
    "ListStreamConsumers",
    "consumers are listed page by page, each once"
  ) {
    val arn = client.describeStream(newStream(1)).arn
    val names = (1 to 5).map(i => s"consumer-$i")
    names.foreach(fanOut.register(arn, _))
    @tailrec def more(found: Seq[String], token: Option[String]): Seq[String] = {
      val page = fanOut.list(arn, token, 2)
      assert(page.consumers.size <= 2)
      val all = found ++ page.consumers.map(_.arn.name)
      if (page.nextToken.isEmpty) all else more(all, page.nextToken)
    }
    assert(more(Nil, None).sorted == names)
  }

  contract("DeleteStream", "consumers go with their stream, if the caller says so") {
    val stream = newStream(1)
    val consumer = register(stream)
    refused[KinesisException.InUse](admin.deleteStream(stream.name))
    fanOut.deleteStream(consumer.stream)
    refused[KinesisException.NotFound](fanOut.describe(ConsumerRef.ByArn(consumer)))
    refused[KinesisException.NotFound](register(StreamRef.ByArn(consumer.stream)))
  }

  contract(Operation, "a subscription begins where its position says") {
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

  contract(Operation, "records come as they are put, in their order") {
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

  contract(Operation, "a backlog comes in events of about 1 MiB, each record once") {
    val stream = newStream(1)
    val blob = new Array[Byte](100 * 1024)
    (1 to 4).foreach(_ => put(stream, Seq.fill(10)(PutEntry("k", blob, None)): _*))
    val numbers = readAll(stream).map(_.sequenceNumber)
    using(fanOut.subscribe(register(stream), onlyShard(stream), Position.TrimHorizon)) { it =>
      val found = events(it, 40).filter(_.records.nonEmpty)
      assert(found.flatMap(_.records).map(_.sequenceNumber) == numbers)
      if (capabilities.sizesEvents)
        assert(found.size >= 4 && found.forall(_.records.map(_.data.length).sum <= 1024 * 1024))
      assert(found.last.continuation.contains(numbers.last))
    }
  }

  contractIf(
    capabilities.advance.nonEmpty,
    Operation,
    "another subscription goes on from the continuation sequence number, exactly"
  ) {
    val stream = newStream(1)
    val (consumer, shard) = (register(stream), onlyShard(stream))
    put(stream, (1 to 3).map(i => entry("k", s"$i")): _*)
    val first = using(fanOut.subscribe(consumer, shard, Position.TrimHorizon))(events(_, 3))
    put(stream, entry("k", "4"))
    moved(Subscribed.Takeover)
    val after = Position.AfterSequenceNumber(first.last.continuation.get)
    using(fanOut.subscribe(consumer, shard, after)) { it =>
      assert(texts(events(it, 1)) == Seq("4"))
    }
  }

  contractIf(
    capabilities.advance.nonEmpty,
    Operation,
    "an empty event tells where to go on though nothing was put"
  ) {
    val stream = newStream(1)
    val (consumer, shard) = (register(stream), onlyShard(stream))
    val empty = using(fanOut.subscribe(consumer, shard, Position.Latest)) { it =>
      moved(Subscribed.Heartbeat)
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
    moved(Subscribed.Takeover)
    val after = Position.AfterSequenceNumber(empty.continuation.get)
    using(fanOut.subscribe(consumer, shard, after))(it => assert(texts(events(it, 1)) == Seq("1")))
  }

  contractIf(
    capabilities.endsSubscriptions,
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

  contractIf(
    capabilities.endsSubscriptions,
    Operation,
    "a subscription to a closed shard gives its records and ends"
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

  contractIf(
    capabilities.advance.nonEmpty,
    Operation,
    "within five seconds a second subscription is refused, then it takes over"
  ) {
    val stream = newStream(1)
    val (consumer, shard) = (register(stream), onlyShard(stream))
    using(fanOut.subscribe(consumer, shard, Position.Latest)) { first =>
      moved(Subscribed.Takeover - 1.milli)
      refused[KinesisException.InUse](fanOut.subscribe(consumer, shard, Position.Latest))
      moved(1.milli)
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

  contractIf(
    capabilities.advance.nonEmpty,
    Operation,
    "a subscription ends normally after five minutes"
  ) {
    val stream = newStream(1)
    val (consumer, shard) = (register(stream), onlyShard(stream))
    using(fanOut.subscribe(consumer, shard, Position.TrimHorizon)) { it =>
      moved(Subscribed.Lifetime - 1.milli)
      put(stream, entry("k", "1"))
      assert(texts(events(it, 1)) == Seq("1"))
      moved(1.milli)
      assert(toEnd(it)._2 == Signal.Completed)
    }
    val after = Position.TrimHorizon
    using(fanOut.subscribe(consumer, shard, after))(it => assert(texts(events(it, 1)) == Seq("1")))
  }

  contract(Operation, "two consumers have their own subscriptions, and each shard its own") {
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

  contractIf(
    capabilities.checksShardOfSubscription,
    Operation,
    "what does not exist is not found"
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

  contractIf(
    capabilities.endsSubscriptions,
    Operation,
    "a subscription ends with the stream that is deleted, and with its consumer"
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
