package sparkkinesis.simulator.sdk

import scala.annotation.tailrec

import sparkkinesis.model.{ConsumerArn, ShardId, StreamRef}
import sparkkinesis.simulator.contract.ContractFixture
import sparkkinesis.simulator.fanout.SubscriptionEvent

/** Helpers of tests that use consumers and subscriptions. */
trait FanOutReading { this: ContractFixture =>
  protected def fanOut: FanOutCalls

  protected def register(stream: StreamRef, name: String = "consumer"): ConsumerArn =
    fanOut.register(client.describeStream(stream).arn, name).arn

  protected def onlyShard(stream: StreamRef): ShardId = shards(stream).head.id

  /** The events up to the one that completes so many records; fails rather than wait for ever. */
  protected def events(of: FanOutSubscription, records: Int): Vector[SubscriptionEvent] = {
    @tailrec def more(found: Vector[SubscriptionEvent], attempts: Int): Vector[SubscriptionEvent] =
      if (found.map(_.records.size).sum >= records) found
      else {
        assert(attempts > 0, s"Only ${found.map(_.records.size).sum} of $records records came.")
        of.next() match {
          case Signal.Event(event) => more(found :+ event, attempts - 1)
          case Signal.Quiet =>
            poll()
            more(found, attempts - 1)
          case ended => fail(s"Ended too soon: $ended")
        }
      }
    more(Vector.empty, 2000)
  }

  /** Reads on to the end, which is returned with the events before it. */
  protected def toEnd(of: FanOutSubscription): (Vector[SubscriptionEvent], Signal) = {
    @tailrec def more(
        found: Vector[SubscriptionEvent],
        attempts: Int
    ): (Vector[SubscriptionEvent], Signal) = {
      assert(attempts > 0, "No end of the subscription in sight.")
      of.next() match {
        case Signal.Event(event) => more(found :+ event, attempts - 1)
        case Signal.Quiet =>
          poll()
          more(found, attempts - 1)
        case ended => (found, ended)
      }
    }
    more(Vector.empty, 2000)
  }

  protected def texts(events: Vector[SubscriptionEvent]): Seq[String] =
    events.flatMap(_.records).map(text)

  protected def using[A](subscription: FanOutSubscription)(use: FanOutSubscription => A): A =
    try use(subscription)
    finally subscription.close()
}
