package sparkkinesis.client.aws

import java.time.Instant
import java.util.concurrent.{LinkedBlockingQueue, TimeUnit}

import scala.annotation.tailrec
import scala.concurrent.duration._

import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite
import software.amazon.awssdk.http.Protocol

import sparkkinesis.client._
import sparkkinesis.client.access.Timeouts
import sparkkinesis.model._
import sparkkinesis.simulator.fault.{Fault, FaultRule}
import sparkkinesis.simulator.service.SimulatedKinesis
import sparkkinesis.simulator.{KinesisServer, LocalClient}

/** Subscriptions of the AWS client, over HTTP/2 and HTTP/1.1. */
class AwsFanOutSuite extends AnyFunSuite with BeforeAndAfterAll {
  private lazy val server = KinesisServer.start()

  override protected def afterAll(): Unit = server.close()

  private val first = ShardId("shardId-000000000000")

  private sealed trait Signal
  private case class Opened(time: Option[Instant]) extends Signal
  private case class Event(event: ShardEvent) extends Signal
  private case class Ended(failure: Option[KinesisException]) extends Signal

  private final class Signals extends EventSubscriber {
    private val queue = new LinkedBlockingQueue[Signal]
    override def opened(serverTime: Option[Instant]): Unit = queue.add(Opened(serverTime)): Unit
    override def event(event: ShardEvent): Unit = queue.add(Event(event)): Unit
    override def ended(failure: Option[KinesisException]): Unit = queue.add(Ended(failure)): Unit

    def next(): Signal = Option(queue.poll(30, TimeUnit.SECONDS)).getOrElse(fail("no signal"))

    /** The next event, after the answer. */
    def event(): ShardEvent = next() match {
      case Event(event) => event
      case Opened(_) => event()
      case other => fail(s"no event: $other")
    }

    def failure(): KinesisException = next() match {
      case Ended(Some(failure)) => failure
      case Ended(None) => fail("ended without a failure")
      case _ => failure()
    }

    def isQuiet: Boolean = queue.poll(300, TimeUnit.MILLISECONDS) == null
  }

  /** A stream of one shard with a consumer, and a client. */
  private final class Setting(protocol: Protocol, name: StreamName) {
    server.kinesis.createStream(name, 1)
    val arn: StreamArn = SimulatedKinesis.arn(name)
    val client: KinesisClient = AwsClientFactory.create(
      LocalClient.config(server.endpoint),
      Timeouts.Default,
      protocol
    )
    val consumer: ConsumerArn = client.fanOut.register(arn, "app").arn

    def put(texts: String*): Unit =
      texts.foreach(it => server.kinesis.putRecord(name, PutEntry("k", it.getBytes, None)))

    def subscribe(
        from: Position = Position.TrimHorizon,
        consumer: ConsumerArn = consumer
    ): (EventSubscription, Signals) = {
      val signals = new Signals
      (client.fanOut.subscribe(consumer, first, from, signals), signals)
    }
  }

  private def texts(event: ShardEvent) = event.records.map(it => new String(it.data))

  for (protocol <- Seq(Protocol.HTTP2, Protocol.HTTP1_1)) {
    def testing(name: String)(check: Setting => Unit): Unit =
      test(s"$protocol: $name") {
        val stream = StreamName(s"$protocol-${name.hashCode.toHexString}".replace('/', '-'))
        val it = new Setting(protocol, stream)
        try check(it)
        finally it.client.close()
      }

    testing("a consumer is described by its name and by its ARN") { it =>
      val found = it.client.fanOut.describe(ConsumerRef.ByName(it.arn, "app"))
      assert(found.arn === it.consumer && found.status === ConsumerStatus.Active)
      assert(it.client.fanOut.describe(ConsumerRef.ByArn(it.consumer)) === found)
      intercept[KinesisException.NotFound] {
        it.client.fanOut.describe(ConsumerRef.ByName(it.arn, "other"))
      }
      intercept[KinesisException.InUse](it.client.fanOut.register(it.arn, "app"))
    }

    testing("records arrive, with the service's time") { it =>
      it.put("a", "b")
      val (subscription, signals) = it.subscribe()
      subscription.request()
      assert(signals.next() match { case Opened(time) => time.nonEmpty; case _ => false })
      val event = signals.event()
      assert(texts(event) === Seq("a", "b") && event.children.isEmpty)
      subscription.request()
      it.put("c")
      val later = signals.event()
      assert(texts(later) === Seq("c") && later.millisBehindLatest === Some(0))
      assert(later.continuation === Some(later.records.last.sequenceNumber))
      subscription.close()
    }

    testing("without a request nothing arrives") { it =>
      val (subscription, signals) = it.subscribe()
      it.put("a")
      subscription.request()
      assert(texts(signals.event()) === Seq("a"))
      it.put("b")
      assert(signals.isQuiet)
      subscription.request()
      assert(texts(signals.event()) === Seq("b"))
      subscription.close()
    }

    testing("the last event of a shard names its children, and the subscription ends") { it =>
      it.put("a")
      server.kinesis.splitShard(it.arn.name, first, HashKey(HashKeyRange.All.last.value / 2))
      val (subscription, signals) = it.subscribe()
      subscription.request()
      val event = signals.event()
      assert(event.continuation.isEmpty && event.children.size === 2)
      subscription.request()
      assert(signals.next() === Ended(None))
    }

    testing("a second call is refused within five seconds") { it =>
      it.put("a")
      val (subscription, signals) = it.subscribe()
      subscription.request()
      signals.event()
      val refused = it.subscribe()._2.failure()
      assert(refused.isInstanceOf[KinesisException.InUse])
      assert(refused.getMessage.contains("SubscribeToShard") && refused.getMessage.contains("app"))
      subscription.close()
    }

    testing("a takeover ends the first subscription by name") { it =>
      it.put("a")
      val (one, signals) = it.subscribe()
      one.request()
      signals.event()
      server.kinesis.advance(6.seconds)
      val (other, others) = it.subscribe()
      other.request()
      assert(texts(others.event()) === Seq("a"))
      for (_ <- 1 to 3) one.request() // heartbeats may come first
      val failure = signals.failure()
      assert(failure.isInstanceOf[KinesisException.InUse], failure)
      other.close()
    }

    testing("an unknown consumer fails by name") { it =>
      val unknown = it.consumer.copy(createdSecond = 1)
      val failure = it.subscribe(consumer = unknown)._2.failure()
      assert(failure.isInstanceOf[KinesisException.NotFound], failure)
    }

    def broken(it: Setting, fault: Fault): Signals = {
      it.put("a")
      server.kinesis.script.add(FaultRule(fault, Some("SubscribeToShard"), times = Some(1)))
      val (subscription, signals) = it.subscribe()
      subscription.request()
      signals
    }

    testing("a connection that breaks is reported") { it =>
      val signals = broken(it, Fault.SubscriptionDropped)
      @tailrec def end(): Signal = signals.next() match {
        case end: Ended => end
        case _ => end()
      }
      end()
    }

    testing("a connection that breaks within an event is a failure of the network") { it =>
      val failure = broken(it, Fault.EventTruncated).failure()
      assert(failure.isInstanceOf[KinesisException.Unreachable], failure)
      assert(failure.getMessage.contains("SubscribeToShard"), failure)
    }

    testing("records of any size and any key are those that were written") { it =>
      val keys = Seq("k", "\"\\/\n\u0001", "ключ 🔑", "k" * 256)
      val sizes = Seq(0, 1, 2, 3, 1000, 100000, 900000)
      val entries =
        for (key <- keys; size <- sizes)
          yield PutEntry(key, Array.tabulate(size)(i => (i * 31 + size).toByte), None)
      entries.foreach(server.kinesis.putRecord(it.arn.name, _))
      val (subscription, signals) = it.subscribe()
      def read(left: Int): Seq[Record] = if (left == 0) Nil
      else {
        subscription.request()
        val records = signals.event().records
        records ++ read(left - records.size)
      }
      val found = read(entries.size).map(r => (r.partitionKey, r.data.toSeq))
      assert(found === entries.map(e => (Some(e.partitionKey), e.data.toSeq)))
      subscription.close()
    }

    testing("after `close` nothing follows, not even an end") { it =>
      val (subscription, signals) = it.subscribe()
      subscription.request()
      it.put("a")
      signals.event()
      subscription.request()
      subscription.close()
      it.put("b")
      assert(signals.isQuiet)
    }
  }

  test("an endpoint that nobody serves is unreachable") {
    val client =
      AwsClientFactory.create(LocalClient.config(java.net.URI.create("http://127.0.0.1:9")))
    try {
      val signals = new Signals
      val consumer = ConsumerArn(SimulatedKinesis.arn(StreamName("none")), "app", 1)
      client.fanOut.subscribe(consumer, first, Position.Latest, signals)
      assert(signals.failure().isInstanceOf[KinesisException.Unreachable])
    } finally client.close()
  }
}
