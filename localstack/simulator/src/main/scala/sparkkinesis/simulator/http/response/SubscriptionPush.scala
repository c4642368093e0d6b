package sparkkinesis.simulator.http.response

import java.time.Instant
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicBoolean

import scala.annotation.tailrec
import scala.util.control.NonFatal

import io.netty.buffer.ByteBuf
import io.netty.channel.{ChannelFutureListener, ChannelHandlerContext, ChannelInboundHandlerAdapter}
import io.netty.handler.codec.http.{DefaultHttpContent, LastHttpContent}
import io.netty.util.ReferenceCountUtil
import io.netty.util.concurrent.Future
import org.slf4j.LoggerFactory

import sparkkinesis.simulator.fanout.{Subscribed, SubscriptionStep}
import sparkkinesis.simulator.service.SimulatedKinesis
import sparkkinesis.simulator.state.Failure

/**
 * Sends the events of one subscription. Only the event loop of its channel calls it.
 *
 * It sends an event only if the channel is writable, so a slow reader makes it wait. It continues
 * when the stream changes, when the clock is moved, when the channel becomes writable, and on a
 * timer. It is added before the handler of requests after the head of the response, and removes
 * itself at the end.
 */
private[http] final class SubscriptionPush(kinesis: SimulatedKinesis, start: Subscribed)
    extends ChannelInboundHandlerAdapter {
  import SubscriptionPush._

  private var subscribed = start
  private var channel: Option[ChannelHandlerContext] = None
  private var watch: Option[AutoCloseable] = None
  private var timer: Option[Future[_]] = None
  private var isLooking = false
  private val isWoken = new AtomicBoolean

  override def handlerAdded(context: ChannelHandlerContext): Unit = {
    channel = Some(context)
    // Registers before the first look, so that no change is missed.
    watch = Some(kinesis.watchers.add(start, () => wake(context)))
    send(context, EventFrames.initial)
    look()
  }

  override def handlerRemoved(context: ChannelHandlerContext): Unit = release()

  override def channelInactive(context: ChannelHandlerContext): Unit = {
    release()
    context.fireChannelInactive()
    ()
  }

  override def channelWritabilityChanged(context: ChannelHandlerContext): Unit = {
    look()
    context.fireChannelWritabilityChanged()
    ()
  }

  /**
   * Closes the connection: over HTTP/1.1 another request cannot be answered during a subscription.
   */
  override def channelRead(context: ChannelHandlerContext, message: Any): Unit = {
    ReferenceCountUtil.release(message)
    context.close()
    ()
  }

  private def wake(context: ChannelHandlerContext): Unit =
    if (isWoken.compareAndSet(false, true))
      context.executor.execute { () =>
        isWoken.set(false)
        look()
      }

  /**
   * Sends all events that are due. A write may call back about the channel's writability, so a
   * nested call returns at once.
   */
  private def look(): Unit = channel.filterNot(_ => isLooking).foreach { context =>
    isLooking = true
    timer.foreach(_.cancel(false))
    timer = None
    try push(context)
    catch {
      case NonFatal(e) =>
        log.error(s"The subscription of ${start.consumer} to ${start.shard} failed", e)
        context.close()
    } finally isLooking = false
  }

  @tailrec private def push(context: ChannelHandlerContext): Unit =
    if (!kinesis.now.isBefore(subscribed.until)) complete(context)
    else if (!context.channel.isWritable) lookAgain(context, subscribed.until)
    else
      kinesis.nextEvent(subscribed) match {
        case Right(SubscriptionStep.Send(event, next)) =>
          send(context, EventFrames.event(event))
          next match {
            case Some(further) =>
              subscribed = further
              push(context)
            case None => complete(context)
          }
        case Right(SubscriptionStep.SendPart(event)) => breakIn(context, EventFrames.event(event))
        case Right(SubscriptionStep.Wait(until)) =>
          lookAgain(context, until)
        case Right(SubscriptionStep.Complete) => complete(context)
        case Left(refused: Failure.Refused) =>
          send(context, EventFrames.exception(refused))
          complete(context)
        case Left(Failure.NoAnswer) =>
          context.close()
          ()
      }

  /** Schedules the next look. If the timer cannot follow the clock, it looks more often. */
  private def lookAgain(context: ChannelHandlerContext, until: Instant): Unit = {
    val millis = math.max(until.toEpochMilli - kinesis.now.toEpochMilli, 1)
    val wait = if (kinesis.followsSystemClock) millis else math.min(millis, ClockPollMillis)
    timer = Some(context.executor.schedule((() => look()): Runnable, wait, TimeUnit.MILLISECONDS))
  }

  private def send(context: ChannelHandlerContext, frame: ByteBuf): Unit = {
    context.writeAndFlush(new DefaultHttpContent(frame))
    ()
  }

  private def breakIn(context: ChannelHandlerContext, frame: ByteBuf): Unit = {
    val part = frame.readSlice(frame.readableBytes / 2)
    context.writeAndFlush(new DefaultHttpContent(part)).addListener(ChannelFutureListener.CLOSE)
    release()
  }

  private def complete(context: ChannelHandlerContext): Unit = {
    context.writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT)
    context.pipeline.remove(this)
    ()
  }

  private def release(): Unit = {
    channel = None
    timer.foreach(_.cancel(false))
    timer = None
    watch.foreach(_.close())
    watch = None
  }
}

private[http] object SubscriptionPush {
  private val log = LoggerFactory.getLogger(classOf[SubscriptionPush])

  /** How often a clock that was given from Scala is checked, in milliseconds. */
  private val ClockPollMillis = 250L
}
