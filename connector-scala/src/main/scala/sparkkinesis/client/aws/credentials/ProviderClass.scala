package sparkkinesis.client.aws.credentials

import java.lang.reflect.{InvocationTargetException, Method, Modifier}

import scala.util.Try

import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider

import sparkkinesis.client.CredentialsSource.Provider
import sparkkinesis.client.access.CredentialsProvider
import sparkkinesis.client.{KinesisException, SystemClock}

/**
 * Creates the object of a class that the user names and that implements [[CredentialsProvider]]. No
 * code of another class runs, not even its static initialiser: who may set an option need not be
 * someone who may run code here.
 */
private[credentials] object ProviderClass {

  /** @throws KinesisException.BadCredentials if there is no such class, or no object of it */
  def open(source: Provider): AwsCredentialsProvider = {
    val found = load(source)
    if (!isProvider(found)) throw refused(source, "is no provider of credentials", Form)
    val provider = instance(found, source)
    val renewed = new RenewedKeys(source.className, () => provider.credentials(), SystemClock)
    new UserCredentials(source.className, () => renewed.current(), provider)
  }

  private def isProvider(found: Class[_]) = classOf[CredentialsProvider].isAssignableFrom(found)

  /** The loader of the calling thread knows the jars of `--jars`, and those of a session. */
  private def load(source: Provider): Class[_] = {
    val loaders = Seq(Thread.currentThread.getContextClassLoader, getClass.getClassLoader)
    loaders.filter(_ != null).flatMap(find(source, _)).headOption.getOrElse {
      throw refused(source, "is not on the class path", AddJar)
    }
  }

  private def find(source: Provider, loader: ClassLoader): Option[Class[_]] =
    try Some(Class.forName(source.className, false, loader))
    catch {
      case _: ClassNotFoundException => None
      case e: LinkageError => throw failed(source, e)
    }

  private def instance(found: Class[_], source: Provider): CredentialsProvider = {
    val types = source.secret.map(_ => classOf[String]).toSeq
    val arguments = source.secret.toSeq
    try {
      val created = Try(found.getMethod("create", types: _*)).toOption.filter(isFactory) match {
        case Some(method) => method.invoke(null, arguments: _*)
        case None => found.getConstructor(types: _*).newInstance(arguments: _*)
      }
      created match {
        case provider: CredentialsProvider => provider
        case _ => throw refused(source, "has a method 'create' that returned null", "Correct it.")
      }
    } catch {
      case e: InvocationTargetException => throw failed(source, e.getCause)
      case e: LinkageError => throw failed(source, e)
      case _: ReflectiveOperationException =>
        val form = if (types.isEmpty) "without parameters" else "with one parameter of type String"
        throw refused(
          source,
          s"has neither a public static method 'create' $form that returns a provider, nor a " +
            s"public constructor $form",
          "Add one of them" + (if (types.isEmpty) ", or set 'credentialsProviderSecret'." else ".")
        )
    }
  }

  private def isFactory(method: Method) =
    Modifier.isStatic(method.getModifiers) && isProvider(method.getReturnType)

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

  private val Form = s"Let it implement ${classOf[CredentialsProvider].getName}."
}
