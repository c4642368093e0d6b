package sparkkinesis.shard.feed

import java.time.Instant
import java.util.concurrent.ConcurrentLinkedQueue

import sparkkinesis.client.{EventSubscriber, KinesisException, ShardEvent}

/**
 * What one subscription has sent and its reader has not taken yet. The client's threads add to it,
 * and one thread at a time takes. After `close`, late events change nothing.
 *
 * @param wake the reader has something to take
 */
private[feed] final class EventInbox(wake: () => Unit) extends EventSubscriber {
  import EventInbox._

  private val signals = new ConcurrentLinkedQueue[Signal]
  @volatile private var isClosed = false

  override def opened(serverTime: Option[Instant]): Unit = add(Signal.Opened(serverTime))

  override def event(event: ShardEvent): Unit = add(Signal.Event(event))

  override def ended(failure: Option[KinesisException]): Unit = add(Signal.Ended(failure))

  /** The oldest signal, which stays. */
  def head: Option[Signal] = Option(signals.peek)

  /** Takes the oldest signal. */
  def drop(): Unit = signals.poll(): Unit

  def close(): Unit = {
    isClosed = true
    signals.clear()
  }

  private def add(signal: Signal): Unit = if (!isClosed) {
    signals.add(signal)
    wake()
  }
}

private[feed] object EventInbox {
  sealed trait Signal

  object Signal {
    final case class Opened(serverTime: Option[Instant]) extends Signal
    final case class Event(event: ShardEvent) extends Signal
    final case class Ended(failure: Option[KinesisException]) extends Signal
  }
}
