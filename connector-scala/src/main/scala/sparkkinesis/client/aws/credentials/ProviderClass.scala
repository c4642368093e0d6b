package sparkkinesis.client.aws.credentials

import java.lang.reflect.{InvocationTargetException, Method, Modifier}

import scala.util.Try

import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider

import sparkkinesis.client.CredentialsSource.Provider
import sparkkinesis.client.access.{AwsKeys, CredentialsProvider}
import sparkkinesis.client.{KinesisException, SystemClock}

/**
 * Creates the object of a class that the user names. The class implements [[CredentialsProvider]],
 * or it is a provider of an AWS SDK 2 that the user brings. Our own SDK is relocated, so that such
 * a provider is no instance of its interface. Its methods are found by their names.
 */
private[credentials] object ProviderClass {

  /** @throws KinesisException.BadCredentials if there is no such class, or no object of it */
  def open(source: Provider): AwsCredentialsProvider = {
    val created = instance(load(source), source)
    val keys = created match {
      case ours: CredentialsProvider =>
        val renewed =
          new RenewedKeys(source.className, () => ours.credentials(), SystemClock)
        () => renewed.current()
      case other =>
        val provider = SdkShape.of(other).getOrElse {
          throw refused(source, "is no provider of credentials", Shapes)
        }
        () => provider.current()
    }
    new UserCredentials(source.className, keys, created)
  }

  /** The loader of the calling thread knows the jars of `--jars`, and those of a session. */
  private def load(source: Provider): Class[_] = {
    val loaders = Seq(Thread.currentThread.getContextClassLoader, getClass.getClassLoader)
    loaders.filter(_ != null).flatMap(find(source, _)).headOption.getOrElse {
      throw refused(source, "is not on the class path", AddJar)
    }
  }

  private def find(source: Provider, loader: ClassLoader): Option[Class[_]] =
    try Some(Class.forName(source.className, true, loader))
    catch {
      case _: ClassNotFoundException => None
      case e: LinkageError => throw failed(source, e)
    }

  private def instance(found: Class[_], source: Provider): AnyRef = {
    val types = source.param.map(_ => classOf[String]).toSeq
    val arguments = source.param.toSeq
    try {
      val factory = Try(found.getMethod("create", types: _*)).toOption
        .filter(method => Modifier.isStatic(method.getModifiers))
      factory match {
        case Some(method) => method.invoke(null, arguments: _*)
        case None =>
          found.getConstructor(types: _*).newInstance(arguments: _*).asInstanceOf[AnyRef]
      }
    } catch {
      case e: InvocationTargetException => throw failed(source, e.getCause)
      case e: LinkageError => throw failed(source, e)
      case _: ReflectiveOperationException =>
        val form = if (types.isEmpty) "without parameters" else "with one parameter of type String"
        throw refused(
          source,
          s"has neither a public static method 'create' $form nor a public constructor $form",
          "Add one of them" + (if (types.isEmpty) ", or set 'credentialsProviderParam'." else ".")
        )
    }
  }

  private def failed(source: Provider, e: Throwable): KinesisException =
    new KinesisException.BadCredentials(
      s"Class ${source.className} of option 'credentialsProvider' cannot be loaded or created: $e",
      e
    )

  private def refused(source: Provider, problem: String, remedy: String): KinesisException =
    new KinesisException.BadCredentials(
      s"Class ${source.className} of option 'credentialsProvider' $problem. $remedy"
    )

  private val AddJar =
    "Add its jar to the driver and to all executors, for example with '--jars' or 'spark.jars'."

  private val Shapes = s"Implement ${classOf[CredentialsProvider].getName}, or " +
    "AwsCredentialsProvider of the AWS SDK for Java 2."
}

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
