package sparkkinesis.client.aws

import java.io.EOFException
import java.nio.ByteBuffer
import java.util.concurrent.atomic.{AtomicInteger, AtomicLong}

import scala.annotation.tailrec

import org.reactivestreams.{Subscriber, Subscription}

import sparkkinesis.client.aws.wire.{EventMessage, EventMessages}

/**
 * The body of a subscription's answer. It asks the network for the next bytes only while an event
 * is asked for, and decodes only as many events. Any thread may call its methods, which never wait:
 * a thread that finds another one at work leaves its part to it.
 *
 * @param receive takes a message, and returns whether it was an event that was asked for. If it
 *   throws, nothing follows
 * @param onEnd called once, with the failure if there was one
 */
private[aws] final class EventBody(
    receive: EventMessage => Boolean,
    onEnd: Option[Throwable] => Unit
) extends Subscriber[ByteBuffer]
    with AutoCloseable {
  import EventBody._

  private val messages = new EventMessages
  private val requested = new AtomicLong // events that have not come
  private val turns = new AtomicInteger // calls of `run` that are not done
  @volatile private var upstream = Option.empty[Subscription]
  @volatile private var part = NoBytes // what came last
  @volatile private var isAwaited = false // the next part
  @volatile private var end = Option.empty[Option[Throwable]] // of the network
  @volatile private var isOver = false

  /** Asks for one more event. */
  def request(): Unit = {
    requested.incrementAndGet()
    run()
  }

  override def onSubscribe(network: Subscription): Unit = {
    upstream = Some(network)
    if (isOver) network.cancel() else run()
  }

  override def onNext(bytes: ByteBuffer): Unit = {
    part = bytes
    isAwaited = false
    run()
  }

  override def onError(e: Throwable): Unit = ended(Some(e))

  override def onComplete(): Unit = ended(None)

  private def ended(failure: Option[Throwable]): Unit = {
    end = Some(failure)
    isAwaited = false
    run()
  }

  /** Nothing follows, except what is being received. */
  override def close(): Unit = {
    isOver = true
    upstream.foreach(_.cancel())
  }

  private def run(): Unit = if (turns.getAndIncrement() == 0) {
    var seen = 1
    while (seen > 0) {
      work()
      seen = turns.addAndGet(-seen)
    }
  }

  @tailrec private def work(): Unit = if (!isOver && !isAwaited) {
    val isAsked = requested.get > 0
    if (part.hasRemaining) {
      if (isAsked) {
        take()
        work()
      }
    } else
      (end, upstream) match {
        case (Some(failure), _) => finish(failure.orElse(Truncated.filter(_ => messages.isWithin)))
        case (None, Some(network)) if isAsked =>
          isAwaited = true
          network.request(1)
          work()
        case _ => ()
      }
  }

  private def take(): Unit =
    try messages.next(part).foreach(it => if (receive(it)) requested.decrementAndGet(): Unit)
    catch { // any error, because the network would ignore it and the shard would stop
      case e: Throwable => finish(Some(e))
    }

  /** The failure is reported first, because the network may report that it was cancelled. */
  private def finish(failure: Option[Throwable]): Unit = {
    val isLate = isOver
    isOver = true
    if (!isLate) onEnd(failure)
    close()
  }
}

private object EventBody {
  private val NoBytes = ByteBuffer.allocate(0)

  private def Truncated = Option(new EOFException("The answer ended within a message."))
}
