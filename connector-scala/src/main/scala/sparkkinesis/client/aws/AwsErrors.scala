package sparkkinesis.client.aws

import java.io.IOException
import java.net.{ConnectException, NoRouteToHostException, UnknownHostException}
import javax.net.ssl.SSLHandshakeException

import scala.concurrent.duration._
import scala.util.control.NonFatal

import org.apache.hc.client5.http.ConnectTimeoutException
import org.apache.hc.core5.http.ConnectionRequestTimeoutException
import software.amazon.awssdk.awscore.exception.AwsServiceException
import software.amazon.awssdk.core.exception._

import sparkkinesis.client.aws.credentials.{ClientCredentials, UserCredentials}
import sparkkinesis.client.aws.http.Reason.causes
import sparkkinesis.client.aws.http.{CalledHost, Reason}
import sparkkinesis.client.aws.wire.EventFallback
import sparkkinesis.client.{ErrorCodes, KinesisException, SystemClock}
import sparkkinesis.model.Printable

/** Translates the exceptions of the SDK into [[KinesisException]]. */
private[aws] object AwsErrors {
  private type Make = ErrorCodes.Make

  /**
   * @param what the operation and its stream, such as `PutRecords of stream orders`
   * @param location region and endpoint of the call
   */
  def translating[A](what: String, location: String)(call: => A): A =
    try call
    catch {
      case _: AbortedException => throw interrupted(what)
      case NonFatal(_) if Thread.currentThread.isInterrupted => throw interrupted(what)
      case e: KinesisException => throw e
      case NonFatal(e) => throw translate(e, what, location)
    }

  def translate(e: Throwable, what: String, location: String): KinesisException = {
    val signature = isSignatureError(e)
    // The rest of such a message is the signed request, including the session token.
    val whole = messageOf(e)
    val message = Printable(if (signature) whole.linesIterator.next() else whole, MaxCharacters)
    val host = CalledHost.of(causes(e)).filterNot(location.contains(_)).fold("")(", host " + _)
    maker(e)(s"$what ($location$host) failed: $message", if (signature) null else e)
  }

  /** Clears the interrupt flag, which the SDK sets again: the caller decides whether to set it. */
  private def interrupted(what: String): InterruptedException = {
    Thread.interrupted()
    new InterruptedException(s"$what was interrupted.")
  }

  private def maker(e: Throwable): Make = e match {
    case unavailable: ClientCredentials.Unavailable => credentialsMaker(unavailable)
    case failure: UserCredentials.Failure if failure.mayPass =>
      new KinesisException.CredentialsExpired(_, _)
    case _: EventFallback.Unreadable => new KinesisException.UnreadableEvent(_, _)
    case service: AwsServiceException if service.isClockSkewException || isTimeRefused(service) =>
      new KinesisException.ClockSkewed(_, _)
    case service: AwsServiceException => serviceMaker(service)
    case _: ApiCallTimeoutException | _: ApiCallAttemptTimeoutException =>
      new KinesisException.Unreachable(_, _, true)
    case _ if causes(e).exists(_.isInstanceOf[IOException]) =>
      val isSent = !causes(e).exists(isBeforeSending)
      new KinesisException.Unreachable(_, _, isSent)
    case _ => new KinesisException.Other(_, _)
  }

  /** Whether there was no connection over which the request could be sent. */
  private def isBeforeSending(e: Throwable): Boolean = e match {
    case _: ConnectException | _: NoRouteToHostException | _: UnknownHostException => true
    case _: ConnectTimeoutException | _: ConnectionRequestTimeoutException => true
    case _: SSLHandshakeException => true
    case _ => false
  }

  /**
   * If STS is down or busy, a later attempt may succeed. The same is true of the default chain,
   * which does not say why it found no credentials. The user must fix any other failure.
   */
  private def credentialsMaker(unavailable: ClientCredentials.Unavailable): Make = {
    val make = maker(unavailable.getCause)
    val made = make("", unavailable)
    if (made.isInstanceOf[KinesisException.Unreachable])
      new KinesisException.Unreachable(_, _, mayHaveArrived = false)
    else if (made.isRetryable) make
    else new KinesisException.BadCredentials(_, _, unavailable.isOfChain)
  }

  private def serviceMaker(e: AwsServiceException): Make =
    codeOf(e).flatMap(ErrorCodes.exception).getOrElse {
      if (e.isThrottlingException) new KinesisException.Throttled(_, _)
      else if (e.statusCode >= 500) new KinesisException.ServiceFailure(_, _)
      else if (e.statusCode == 413) new KinesisException.TooLarge(_, _)
      else if (e.statusCode == OfProxy || e.statusCode == Timeout)
        new KinesisException.Unreachable(_, _, mayHaveArrived = e.statusCode != OfProxy)
      else if (e.statusCode == 403) new KinesisException.AccessDenied(_, _)
      else new KinesisException.Other(_, _)
    }

  private def codeOf(e: AwsServiceException): Option[String] =
    Option(e.awsErrorDetails).flatMap(details => Option(details.errorCode))

  private def messageOf(e: Throwable): String = e match {
    case service: AwsServiceException if codeOf(service).isDefined =>
      val text = Option(service.awsErrorDetails.errorMessage).getOrElse("no message")
      s"$text (${codeOf(service).mkString}, status ${service.statusCode}" +
        s"${Option(service.requestId).fold("")(", request " + _)})"
    case _ => Reason.of(e)
  }

  private def isSignatureError(e: Throwable): Boolean = causes(e).exists {
    case service: AwsServiceException => codeOf(service).exists(_.contains("Signature"))
    case _ => false
  }

  /**
   * Whether the signature has the wrong time. Its code is that of a wrong key. The SDK compares the
   * times too, and signs the next request with the service's time, but its exception has lost that.
   */
  private def isTimeRefused(e: AwsServiceException): Boolean =
    isSignatureError(e) && (TimeRefusals.exists(messageOf(e).contains) || isFarOff(e))

  private def isFarOff(e: AwsServiceException): Boolean =
    Option(e.awsErrorDetails)
      .flatMap(details => Option(details.sdkHttpResponse))
      .flatMap(AwsConversions.serverTime)
      .exists(time => math.abs(time.toEpochMilli - SystemClock.now.toEpochMilli) > MaxSkew.toMillis)

  private val TimeRefusals = Seq("Signature expired", "Signature not yet current")

  /** HTTP status of a proxy that requires a name and a password. */
  private val OfProxy = 407

  /** HTTP status of a server, or a proxy, that waited too long for the request. */
  private val Timeout = 408

  /** AWS accepts five minutes. */
  private val MaxSkew = 4.minutes

  /** Of a message, which contains text of the service. */
  private val MaxCharacters = 2000
}
