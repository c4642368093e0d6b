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
 * Sends one subscription's events over a channel, whose event loop alone calls it.
 *
 * It produces an event when the channel can take one: a slow reader makes it wait. It looks again
 * when the stream has changed, when the service's time was moved, when the channel has become
 * writable, and by a timer. It belongs in
 * front of the handler of requests, behind the head of the answer, and leaves when it is done.
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
    // Watches before it looks, so that no change falls between.
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

  /** Over HTTP/1.1 nothing can be answered before the subscription ends. */
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

  /** To write makes the channel call back about its writability: one look at a time. */
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

  /** Sooner where nobody tells that the time has come. */
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

  /** Milliseconds: how soon it is noticed that a clock given from Scala was moved. */
  private val ClockPollMillis = 250L
}
