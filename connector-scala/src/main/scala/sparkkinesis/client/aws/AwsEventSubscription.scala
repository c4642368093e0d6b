package sparkkinesis.client.aws

import java.nio.ByteBuffer
import java.util.concurrent.{CompletableFuture, CompletionException}

import scala.annotation.tailrec

import org.reactivestreams.Publisher
import software.amazon.awssdk.awscore.exception.{AwsErrorDetails, AwsServiceException}
import software.amazon.awssdk.core.async.SdkPublisher
import software.amazon.awssdk.http.SdkHttpResponse
import software.amazon.awssdk.services.kinesis.{model => aws}

import sparkkinesis.client._
import sparkkinesis.client.aws.http.AnswerBody
import sparkkinesis.client.aws.wire.{EventDecoder, EventMessage}

/**
 * One call of `SubscribeToShard`. The SDK makes the request and understands refusals. What the service
 * sends after it has accepted the request is read here. All methods may run on any thread and return at
 * once.
 *
 * @param translate a failure of the SDK
 */
private[aws] final class AwsEventSubscription(
    subscriber: EventSubscriber,
    translate: Throwable => KinesisException
) extends EventSubscription
    with AnswerBody.Reader {
  import AwsEventSubscription._

  private val body = new EventBody(receive, _.fold(end(None))(failed))
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
      isClosed
    }
    if (isLate) future.cancel(true): Unit
    future.whenComplete((_, e) => if (e == null) called() else failed(e)): Unit
  }

  /** The SDK's call ends when the body begins. */
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

  private def receive(message: EventMessage): Boolean = message.kind match {
    case Some("event") if message.headers.get(":event-type").contains(EventName) =>
      val event = EventDecoder.decode(message)
      subscriber.event(event.getOrElse(throw malformed))
      true
    case Some("exception") =>
      throw failure(message.headers.get(":exception-type"), EventDecoder.reason(message))
    case Some("error") =>
      throw failure(message.headers.get(":error-code"), message.headers.get(":error-message"))
    // `initial-response`, and whatever the service may add.
    case _ => false
  }

  def failed(e: Throwable): Unit = end(Some(translate(unwrapped(e))))

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

    /** They are none, but the call ends only after them. */
    override def onEventStream(events: SdkPublisher[aws.SubscribeToShardEventStream]): Unit =
      events.subscribe((_: aws.SubscribeToShardEventStream) => ()): Unit

    override def exceptionOccurred(e: Throwable): Unit = failed(e)

    override def complete(): Unit = ()
  }
}

private object AwsEventSubscription {
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

  private def malformed: Throwable = AwsServiceException
    .builder()
    .message("The service has sent an event that is not one.")
    .statusCode(StatusOfEvents)
    .build()

  /** The failure itself, which futures wrap. */
  @tailrec private def unwrapped(e: Throwable): Throwable = e match {
    case wrapped: CompletionException if wrapped.getCause != null => unwrapped(wrapped.getCause)
    case other => other
  }
}
