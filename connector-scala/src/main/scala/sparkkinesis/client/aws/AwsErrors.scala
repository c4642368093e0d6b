package sparkkinesis.client.aws

import java.io.IOException

import scala.util.control.NonFatal

import software.amazon.awssdk.awscore.exception.AwsServiceException
import software.amazon.awssdk.core.exception._

import sparkkinesis.client.aws.credentials.AwsCredentials
import sparkkinesis.client.{ErrorCodes, KinesisException}

/** From what the SDK throws to what the connector knows. */
private[aws] object AwsErrors {
  private type Make = ErrorCodes.Make

  /**
   * @param what the operation and its stream, such as `PutRecords of stream orders`
   * @param target where the call went
   */
  def translating[A](what: String, target: String)(call: => A): A =
    try call
    catch {
      case _: AbortedException => throw interrupted(what)
      case NonFatal(_) if Thread.currentThread.isInterrupted => throw interrupted(what)
      case e: KinesisException => throw e
      case NonFatal(e) => throw translate(e, what, target)
    }

  def translate(e: Throwable, what: String, target: String): KinesisException = {
    val signature = isSignatureError(e)
    // Such a message goes on with the request as it was signed, session token included.
    val said = if (signature) messageOf(e).linesIterator.next() else messageOf(e)
    maker(e)(s"$what ($target) failed: $said", if (signature) null else e)
  }

  /** The SDK sets the thread's flag again; whoever catches the exception decides about that. */
  private def interrupted(what: String): InterruptedException = {
    Thread.interrupted()
    new InterruptedException(s"$what was interrupted.")
  }

  private def maker(e: Throwable): Make = e match {
    case unavailable: AwsCredentials.Unavailable => credentialsMaker(unavailable.getCause)
    case service: AwsServiceException => serviceMaker(service)
    case _: ApiCallTimeoutException | _: ApiCallAttemptTimeoutException =>
      new KinesisException.Unreachable(_, _)
    case _ if causes(e).exists(_.isInstanceOf[IOException]) =>
      new KinesisException.Unreachable(_, _)
    case _ => new KinesisException.Other(_, _)
  }

  /** A role service that is down or busy may answer later; the rest is for the user to mend. */
  private def credentialsMaker(reason: Throwable): Make = {
    val make = maker(reason)
    if (make("", reason).isRetryable) make else new KinesisException.BadCredentials(_, _)
  }

  private def serviceMaker(e: AwsServiceException): Make =
    codeOf(e).flatMap(ErrorCodes.maker).getOrElse {
      if (e.isThrottlingException) new KinesisException.Throttled(_, _)
      else if (e.statusCode >= 500) new KinesisException.ServiceFailure(_, _)
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
    case _ =>
      val root = causes(e).last
      if (root eq e) describe(e) else s"${describe(e)} - ${describe(root)}"
  }

  private def describe(e: Throwable): String =
    Option(e.getMessage).filter(_.nonEmpty).getOrElse(e.getClass.getSimpleName)

  private def causes(e: Throwable): Seq[Throwable] =
    Iterator.iterate(e)(_.getCause).takeWhile(_ != null).take(MaxCauses).toSeq

  private def isSignatureError(e: Throwable): Boolean = causes(e).exists {
    case service: AwsServiceException => codeOf(service).exists(_.contains("Signature"))
    case _ => false
  }

  private val MaxCauses = 20
}
