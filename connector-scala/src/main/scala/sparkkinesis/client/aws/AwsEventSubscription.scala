package sparkkinesis.client.aws

import java.util.concurrent.{CompletableFuture, CompletionException}

import scala.annotation.tailrec
import scala.concurrent.duration._

import org.reactivestreams.{Subscriber, Subscription}
import software.amazon.awssdk.core.async.SdkPublisher
import software.amazon.awssdk.http.{SdkCancellationException, SdkHttpResponse}
import software.amazon.awssdk.services.kinesis.{model => aws}

import sparkkinesis.client._

/**
 * One call of `SubscribeToShard` by the SDK. Its methods and those of the SDK's handler may run on any
 * thread and return at once.
 *
 * @param translate a failure of the SDK
 */
private[aws] final class AwsEventSubscription(
    subscriber: EventSubscriber,
    translate: Throwable => KinesisException
) extends EventSubscription {
  import AwsEventSubscription._

  private var upstream = Option.empty[Subscription]
  private var requested = 0L // before there is an upstream
  private var isClosed = false
  private var hasEnded = false
  private var call = Option.empty[CompletableFuture[Void]]

  /** @param subscribe makes the call */
  def begin(
      subscribe: aws.SubscribeToShardResponseHandler => CompletableFuture[Void]
  ): Unit = {
    val future = subscribe(handler)
    val isLate = synchronized {
      call = Some(future)
      isClosed
    }
    if (isLate) future.cancel(true): Unit
    future.whenComplete((_, e) => if (e == null) end(None) else failed(e)): Unit
  }

  /** The headers of the answer, perhaps of a refusal. */
  def answered(headers: SdkHttpResponse): Unit =
    if (headers.isSuccessful) subscriber.opened(AwsConversions.serverTime(headers))

  override def request(): Unit = {
    val known = synchronized {
      if (upstream.isEmpty) requested += 1
      upstream
    }
    known.foreach(_.request(1))
  }

  override def close(): Unit = {
    val (known, future) = synchronized {
      isClosed = true
      (upstream, call)
    }
    known.foreach(_.cancel())
    future.foreach(_.cancel(true))
  }

  /**
   * An exception among the events makes the SDK cancel its own call, and report both in either order. The
   * exception is the reason.
   */
  def failed(e: Throwable): Unit = unwrapped(e) match {
    case cancelled if isCancellation(cancelled) =>
      Timer.later(ReasonWait, () => end(Some(translate(cancelled))))
    case reason => end(Some(translate(reason)))
  }

  private def isCancellation(e: Throwable): Boolean =
    AwsErrors.causes(e).exists(_.isInstanceOf[SdkCancellationException])

  /** Only the first end counts. */
  private def end(failure: Option[KinesisException]): Unit = {
    val isFirst = synchronized {
      val first = !hasEnded && !isClosed
      hasEnded = true
      first
    }
    if (isFirst) subscriber.ended(failure)
  }

  private object handler extends aws.SubscribeToShardResponseHandler {
    override def responseReceived(response: aws.SubscribeToShardResponse): Unit = ()

    override def onEventStream(events: SdkPublisher[aws.SubscribeToShardEventStream]): Unit =
      events.subscribe(eventSubscriber)

    override def exceptionOccurred(e: Throwable): Unit = failed(e)

    /** The call reports its end, also one that is a broken connection. */
    override def complete(): Unit = ()
  }

  private object eventSubscriber extends Subscriber[aws.SubscribeToShardEventStream] {
    override def onSubscribe(events: Subscription): Unit = {
      val (asked, isLate) = AwsEventSubscription.this.synchronized {
        upstream = Some(events)
        (requested, isClosed)
      }
      if (isLate) events.cancel() else if (asked > 0) events.request(asked)
    }

    override def onNext(it: aws.SubscribeToShardEventStream): Unit = it match {
      case event: aws.SubscribeToShardEvent =>
        try subscriber.event(AwsConversions.event(event))
        catch {
          case e: Throwable => failed(e)
        } // the SDK would ignore it, and the shard would stop
      // `initial-response`, and whatever the service may add.
      case _ => upstream.foreach(_.request(1))
    }

    override def onError(e: Throwable): Unit = failed(e)

    override def onComplete(): Unit = ()
  }
}

private[aws] object AwsEventSubscription {

  /** How long the reason of a cancellation may come later. */
  private val ReasonWait = 1.second

  /** The failure itself, which futures wrap. */
  @tailrec private def unwrapped(e: Throwable): Throwable = e match {
    case wrapped: CompletionException if wrapped.getCause != null => unwrapped(wrapped.getCause)
    case other => other
  }
}
