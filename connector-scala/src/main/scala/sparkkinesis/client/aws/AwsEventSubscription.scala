package sparkkinesis.client.aws

import java.nio.ByteBuffer
import java.util.concurrent.{CompletableFuture, CompletionException}

import scala.annotation.tailrec
import scala.concurrent.duration._

import org.reactivestreams.Publisher
import software.amazon.awssdk.awscore.exception.{AwsErrorDetails, AwsServiceException}
import software.amazon.awssdk.core.async.SdkPublisher
import software.amazon.awssdk.http.SdkHttpResponse
import software.amazon.awssdk.services.kinesis.{model => aws}

import sparkkinesis.client._
import sparkkinesis.client.aws.http.AnswerBody
import sparkkinesis.client.aws.wire.{EventDecoder, EventFallback, EventMessage}

/**
 * One call of `SubscribeToShard`. The SDK makes the request and understands refusals. What the
 * service sends after it has accepted the request is read here. All methods may run on any thread
 * and return at once.
 *
 * @param translate a failure of the SDK
 * @param warnOfFallback called for each event that our decoder cannot decode
 */
private[aws] final class AwsEventSubscription(
    subscriber: EventSubscriber,
    translate: Throwable => KinesisException,
    warnOfFallback: () => Unit
) extends EventSubscription
    with AnswerBody.Reader {
  import AwsEventSubscription._

  private val body = new EventBody(receive, _.fold(completed())(failed))
  private var isRead = false // by `body`
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
      isClosed || hasEnded
    }
    if (isLate) future.cancel(true): Unit
    future.whenComplete((_, e) => if (e == null) called() else failed(e)): Unit
  }

  /** An answer without a body. */
  private def called(): Unit = if (!synchronized(isRead)) end(None)

  override def answered(headers: SdkHttpResponse): Unit =
    if (headers.isSuccessful) subscriber.opened(AwsConversions.serverTime(headers))

  override def read(bytes: Publisher[ByteBuffer]): Unit = {
    synchronized { isRead = true }
    bytes.subscribe(body)
  }

  override def request(): Unit = body.request()

  override def close(): Unit = {
    val future = synchronized {
      isClosed = true
      call
    }
    body.close()
    future.foreach(_.cancel(true))
  }

  /** A connection that breaks may also look like an end, just before the SDK reports why. */
  private def completed(): Unit = Timer.later(ReasonWait, () => end(None))

  private def receive(message: EventMessage): Boolean = message.kind match {
    case Some("event") if message.headers.get(":event-type").contains(EventName) =>
      subscriber.event(decoded(message))
      true
    case Some("exception") =>
      throw failure(message.headers.get(":exception-type"), EventFallback.reason(message.payload))
    case Some("error") =>
      throw failure(message.headers.get(":error-code"), message.headers.get(":error-message"))
    // `initial-response`, and whatever the service may add.
    case _ => false
  }

  private def decoded(message: EventMessage): ShardEvent = EventDecoder.decode(message).getOrElse {
    val event = EventFallback.decode(message.payload)
    warnOfFallback()
    event
  }

  def failed(e: Throwable): Unit = end(Some(translate(unwrapped(e))))

  /** Ends the subscription. Only the first end counts. The SDK's call would wait for ever. */
  private def end(failure: Option[KinesisException]): Unit = {
    val (isFirst, future) = synchronized {
      val first = !hasEnded && !isClosed
      hasEnded = true
      (first, call)
    }
    if (isFirst) subscriber.ended(failure)
    future.foreach(_.cancel(true))
  }

  private object handler extends aws.SubscribeToShardResponseHandler {
    override def responseReceived(response: aws.SubscribeToShardResponse): Unit = ()

    /**
     * Nobody subscribes to the SDK's events. So its buffer becomes garbage, and its call is open to
     * failures.
     */
    override def onEventStream(events: SdkPublisher[aws.SubscribeToShardEventStream]): Unit = ()

    override def exceptionOccurred(e: Throwable): Unit = failed(e)

    override def complete(): Unit = ()
  }
}

private object AwsEventSubscription {

  /** How long the reason of an end may come later. */
  private val ReasonWait = 1.second

  private val EventName = "SubscribeToShardEvent"

  /** What the SDK takes for the HTTP status of an exception among the events. */
  private val StatusOfEvents = 500

  private def failure(code: Option[String], message: Option[String]): Throwable = {
    val details = AwsErrorDetails.builder().errorCode(code.orNull).errorMessage(message.orNull)
    AwsServiceException
      .builder()
      .awsErrorDetails(details.build())
      .statusCode(StatusOfEvents)
      .build()
  }

  /** The failure itself, which futures wrap. */
  @tailrec private def unwrapped(e: Throwable): Throwable = e match {
    case wrapped: CompletionException if wrapped.getCause != null => unwrapped(wrapped.getCause)
    case other => other
  }
}
