package sparkkinesis.simulator.service

import java.time.Instant

import sparkkinesis.client.{EventSubscriber, EventSubscription, KinesisException, ShardEvent}

/**
 * A subscription in memory behind the port. For one thread at a time.
 *
 * @param open makes the call
 * @param onEnd called with this when nothing more follows
 */
private[service] final class PushedSubscription(
    open: () => Subscription,
    now: () => Instant,
    subscriber: EventSubscriber,
    onEnd: PushedSubscription => Unit
) extends EventSubscription {
  private var events = Option.empty[Subscription]
  private var requested = 0
  private var isClosed = false

  override def request(): Unit = requested += 1

  override def close(): Unit = {
    isClosed = true
    onEnd(this)
  }

  /** Passes on the events that are due and were requested, and the end. */
  def push(): Unit =
    try {
      if (!isClosed && events.isEmpty) {
        events = Some(open())
        subscriber.opened(Some(now()))
      }
      events.foreach(send)
    } catch { case failure: KinesisException => end(Some(failure)) }

  @scala.annotation.tailrec
  private def send(from: Subscription): Unit = if (!isClosed && requested > 0) {
    from.next() match {
      case Some(event) =>
        requested -= 1
        subscriber.event(
          ShardEvent(
            event.records.toVector,
            event.continuation,
            Some(event.millisBehindLatest),
            event.children
          )
        )
        send(from)
      case None => if (from.isComplete) end(None)
    }
  }

  private def end(failure: Option[KinesisException]): Unit = if (!isClosed) {
    close()
    subscriber.ended(failure)
  }
}
