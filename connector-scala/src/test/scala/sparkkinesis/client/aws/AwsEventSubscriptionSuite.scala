package sparkkinesis.client.aws

import java.nio.ByteBuffer
import java.time.Instant

import scala.collection.mutable

import org.reactivestreams.{Publisher, Subscriber, Subscription}
import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client._
import sparkkinesis.client.aws.wire.EventStreams

class AwsEventSubscriptionSuite extends AnyFunSuite {

  /** A subscription that receives these events, and what its subscriber receives. */
  private final class Receiving(events: String*) extends EventSubscriber {
    val received: mutable.Buffer[ShardEvent] = mutable.Buffer.empty[ShardEvent]
    var end = Option.empty[Option[KinesisException]]
    var warnings = 0

    override def opened(serverTime: Option[Instant]): Unit = ()
    override def event(event: ShardEvent): Unit = received += event: Unit
    override def ended(failure: Option[KinesisException]): Unit = end = Some(failure)

    private val subscription = new AwsEventSubscription(
      this,
      AwsErrors.translate(_, "SubscribeToShard of consumer app, shard 3", "region here"),
      () => warnings += 1
    )
    private val body = ByteBuffer.wrap(
      events.map(it => EventStreams.event(it.getBytes("UTF-8"))).toArray.flatten
    )
    subscription.read(new Publisher[ByteBuffer] {
      override def subscribe(to: Subscriber[_ >: ByteBuffer]): Unit =
        to.onSubscribe(new Subscription {
          override def request(count: Long): Unit = if (body.hasRemaining) to.onNext(body)
          override def cancel(): Unit = ()
        })
    })
    events.foreach(_ => subscription.request())
  }

  private def record(more: String) =
    s"""{"Records": [{"Data": "AQID", "SequenceNumber": "1"}], "New": $more}"""

  test("an event that our decoder cannot decode is decoded by a library from the same bytes") {
    val it = new Receiving(record("1"), record("[" * 200 + "]" * 200), record("2"))
    assert(it.received.map(_.records.head.data.toSeq) === Seq.fill(3)(Seq[Byte](1, 2, 3)))
    assert(it.received.map(_.isFallback) === Seq(false, true, false))
    assert(it.warnings === 1 && it.end.isEmpty)
  }

  test("an event that no decoder can decode is a lasting failure that names its shard") {
    val it = new Receiving("""{"Records": [{"Data": "AQID"}]}""")
    val failure = it.end.flatten.get
    assert(failure.isInstanceOf[KinesisException.UnreadableEvent] && !failure.isRetryable)
    assert(failure.getMessage.contains("SubscribeToShard of consumer app, shard 3 (region here)"))
    assert(failure.getMessage.contains("it lacks 'SequenceNumber'"))
    assert(ErrorCondition.of(failure).condition === "KINESIS_UNREADABLE_EVENT")
    assert(it.received.isEmpty && it.warnings === 0)
  }
}
