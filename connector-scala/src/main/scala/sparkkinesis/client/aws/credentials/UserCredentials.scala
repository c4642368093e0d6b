package sparkkinesis.client.aws.credentials

import scala.util.control.NonFatal

import software.amazon.awssdk.auth.credentials._
import software.amazon.awssdk.core.exception.{AbortedException, SdkClientException}
import software.amazon.awssdk.utils.SdkAutoCloseable

import sparkkinesis.client.access.AwsKeys

/**
 * The credentials of a user's provider, for the SDK.
 *
 * @param name of its class, for messages
 * @param keys asks the provider
 * @param provider closed with this object, if it can be
 */
private[credentials] final class UserCredentials(
    name: String,
    keys: () => AwsKeys,
    provider: AnyRef
) extends AwsCredentialsProvider
    with SdkAutoCloseable {
  @volatile private var hasWorked = false

  override def resolveCredentials(): AwsCredentials =
    try {
      val current = checked(keys())
      hasWorked = true
      Option(current.sessionToken).fold[AwsCredentials](
        AwsBasicCredentials.create(current.accessKeyId, current.secretAccessKey)
      )(AwsSessionCredentials.create(current.accessKeyId, current.secretAccessKey, _))
    } catch {
      case e: InterruptedException => throw AbortedException.create("interrupted", e)
      case NonFatal(e) => throw new UserCredentials.Failure(name, e, hasWorked)
      case e: LinkageError => throw new UserCredentials.Failure(name, e, mayPass = false)
    }

  private def checked(found: AwsKeys): AwsKeys = {
    val isWhole = found != null && Seq(found.accessKeyId, found.secretAccessKey).forall { key =>
      key != null && key.nonEmpty
    }
    if (!isWhole) throw new IllegalStateException("It returned no access key.")
    found
  }

  override def close(): Unit = provider match {
    case open: AutoCloseable => open.close()
    case _ => ()
  }

  override def toString: String = s"UserCredentials($name)"
}

private[aws] object UserCredentials {

  /**
   * A user's provider failed.
   *
   * @param mayPass whether it has worked before, so that it may work again
   */
  final class Failure(name: String, reason: Throwable, val mayPass: Boolean)
      extends SdkClientException(
        SdkClientException
          .builder()
          .message(s"Class $name of option 'credentialsProvider' failed: $reason")
          .cause(reason)
      )
}
