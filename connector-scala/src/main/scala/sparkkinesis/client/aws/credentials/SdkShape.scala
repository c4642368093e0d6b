package sparkkinesis.client.aws.credentials

import java.lang.reflect.{InvocationTargetException, Method}

import scala.util.Try

import sparkkinesis.client.access.AwsKeys

/**
 * An `AwsCredentialsProvider` of another copy of the AWS SDK 2, called by the names of its methods.
 * It renews its credentials by itself.
 */
private[credentials] final class SdkShape private (provider: AnyRef, resolve: Method) {

  /** Throws what the provider throws. */
  def current(): AwsKeys = {
    val found = SdkShape.call(provider, resolve)
    if (found == null) null
    else
      new AwsKeys(text(found, "accessKeyId"), text(found, "secretAccessKey"), token(found), null)
  }

  private def text(credentials: AnyRef, name: String): String =
    SdkShape
      .method(credentials, name)
      .fold(throw new IllegalStateException(s"Its credentials have no method '$name'.")) {
        SdkShape.call(credentials, _).asInstanceOf[String]
      }

  /** The session token. Only credentials of a session have one. */
  private def token(credentials: AnyRef): String =
    SdkShape
      .method(credentials, "sessionToken")
      .map(SdkShape.call(credentials, _).asInstanceOf[String])
      .orNull
}

private[credentials] object SdkShape {

  /** `None` if the object has no method `resolveCredentials` without parameters. */
  def of(provider: AnyRef): Option[SdkShape] =
    method(provider, "resolveCredentials").map(new SdkShape(provider, _))

  /** Finds a public method, also if the class is not public, such as that of a lambda. */
  private def method(target: AnyRef, name: String): Option[Method] =
    Try(target.getClass.getMethod(name)).toOption.map { found =>
      found.setAccessible(true)
      found
    }

  private def call(target: AnyRef, method: Method): AnyRef =
    try method.invoke(target)
    catch { case e: InvocationTargetException => throw e.getCause }
}
