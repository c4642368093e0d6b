package sparkkinesis.client.aws.credentials

import java.io.{File, IOException}
import java.net.{URI, URLClassLoader}

import org.scalatest.funsuite.AnyFunSuite
import software.amazon.awssdk.auth.credentials._
import software.amazon.awssdk.core.exception.AbortedException

import sparkkinesis.client._
import sparkkinesis.client.access.{AwsKeys, CredentialsProvider}
import sparkkinesis.client.aws.AwsClientFactory
import sparkkinesis.model.{StreamName, StreamRef}

class UserCredentialsSuite extends AnyFunSuite {
  private val stream = StreamRef.ByName(StreamName("orders"))

  private def open(name: String, param: Option[String] = None): AwsCredentialsProvider =
    ClientCredentials.source(CredentialsSource.Provider(name, param))

  private def open(found: Class[_]): AwsCredentialsProvider = open(found.getName)

  private def refused(open: => Any): String =
    intercept[KinesisException.BadCredentials](open).getMessage

  test("a class that implements our interface gives the keys, and is closed with the client") {
    OwnProvider.closed = 0
    val opened = open(classOf[OwnProvider])
    opened.resolveCredentials() match {
      case session: AwsSessionCredentials =>
        val keys = (session.accessKeyId, session.secretAccessKey, session.sessionToken)
        assert(keys === (("ID", "hush", "token")))
      case other => fail(s"no session: ${other.getClass}")
    }
    opened.asInstanceOf[AutoCloseable].close()
    assert(OwnProvider.closed === 1)
  }

  test("no code of a class runs that is no provider: no initialiser, factory or constructor") {
    assert(refused(open(Intruder.Name)).contains("is no provider of credentials"))
    assert(refused(open(Intruder.Name.stripSuffix("$"), Some("x"))).contains("is no provider"))
    assert(refused(open("java.io.FileOutputStream", Some("intruder"))).contains("is no provider"))
    assert(!new File("intruder").exists && !sys.props.contains(Intruder.Ran))
  }

  test("the parameter goes to the constructor or to 'create'") {
    val found = open(classOf[NamedProvider].getName, Some("vault/path")).resolveCredentials()
    assert(found.accessKeyId === "KEY-OF-vault/path")
    val made = open(classOf[FactoryProvider].getName, Some("vault")).resolveCredentials()
    assert(made.accessKeyId === "KEY-OF-vault, made")
  }

  private def within[A](loader: ClassLoader)(use: => A): A = {
    val thread = Thread.currentThread
    val before = thread.getContextClassLoader
    thread.setContextClassLoader(loader)
    try use
    finally thread.setContextClassLoader(before)
  }

  test("the class loader of the thread comes first") {
    val name = classOf[OwnProvider].getName
    val hides = new ClassLoader(getClass.getClassLoader) {
      override def loadClass(wanted: String, resolve: Boolean): Class[_] =
        if (wanted.startsWith(name)) throw new ClassNotFoundException(wanted)
        else super.loadClass(wanted, resolve)
    }
    val home = classOf[OwnProvider].getProtectionDomain.getCodeSource.getLocation
    val other = new URLClassLoader(Array(home), hides)
    OwnProvider.closed = 0
    try {
      val found = within(other)(open(name))
      assert(found.resolveCredentials().accessKeyId === "ID")
      found.asInstanceOf[AutoCloseable].close()
      assert(OwnProvider.closed === 0, "an object of the other class of this name")
    } finally other.close()
    assert(within(null)(open(classOf[OwnProvider]).resolveCredentials()).accessKeyId === "ID")
  }

  test("a class whose libraries are missing is refused") {
    val home = classOf[OwnProvider].getProtectionDomain.getCodeSource.getLocation
    val scala = classOf[Option[_]].getProtectionDomain.getCodeSource.getLocation
    val loader = new URLClassLoader(Array(home, scala), ClassLoader.getPlatformClassLoader)
    try {
      val said = refused(within(loader)(open(classOf[OwnProvider])))
      assert(said.contains("cannot be loaded or created: java.lang.NoClassDefFoundError"))
    } finally loader.close()
  }

  test("a class that cannot be used is refused with its name and the remedy") {
    val option = "of option 'credentialsProvider'"
    assert(
      refused(open("com.example.None")) ===
        s"Class com.example.None $option is not on the class path. Add its jar to the driver and " +
        "to all executors, for example with '--jars' or 'spark.jars'."
    )
    val shape = refused(open("java.lang.Object"))
    assert(shape.startsWith(s"Class java.lang.Object $option is no provider of credentials."))
    assert(shape.contains("sparkkinesis.client.access.CredentialsProvider"))
    val noForm = refused(open(classOf[NamedProvider]))
    assert(
      noForm.contains("'create' without parameters") && noForm.contains("credentialsProviderSecret")
    )
    val noParam = refused(open(classOf[OwnProvider].getName, Some("x")))
    assert(noParam.contains("one parameter of type String"))
    val broken = refused(open(classOf[BrokenConstructor]))
    assert(broken.contains("cannot be loaded or created") && broken.contains("no vault"))
  }

  private def failure(provider: AwsCredentialsProvider): UserCredentials.Failure =
    intercept[UserCredentials.Failure](provider.resolveCredentials())

  test("a failure may pass if the provider has worked before; an interruption stays one") {
    val steps = Iterator[() => AwsKeys](
      () => throw new IllegalStateException("sealed"),
      () => new AwsKeys("ID", "hush"),
      () => throw new IllegalStateException("sealed"),
      () => null,
      () => new AwsKeys("ID", ""),
      () => throw new InterruptedException
    )
    val provider = new UserCredentials("Vault", () => steps.next()(), "no AutoCloseable")
    assert(!failure(provider).mayPass)
    assert(provider.resolveCredentials().accessKeyId === "ID")
    val later = failure(provider)
    assert(later.mayPass && later.getMessage.contains("Class Vault"))
    assert(failure(provider).getMessage.contains("returned no access key"))
    assert(failure(provider).getMessage.contains("returned no access key"))
    assertThrows[AbortedException](provider.resolveCredentials())
    provider.close()
  }

  private def clientOf(found: Class[_]): KinesisClient = AwsClientFactory.create(
    ClientConfig(
      "eu-west-1",
      Some(URI.create("http://127.0.0.1:1")),
      CredentialsConfig(CredentialsSource.Provider(found.getName, None), role = None)
    )
  )

  test("a call fails for good if the provider fails, and may be repeated if its network does") {
    val sealedOff = clientOf(classOf[SealedProvider])
    try {
      val e = intercept[KinesisException.BadCredentials](sealedOff.describeStream(stream))
      assert(e.getMessage.contains("SealedProvider") && e.getMessage.contains("vault is sealed"))
    } finally sealedOff.close()
    val unreachable = clientOf(classOf[UnreachableProvider])
    try
      assert(
        intercept[KinesisException.Unreachable](unreachable.describeStream(stream)).isRetryable
      )
    finally unreachable.close()
  }

  test("the text of keys hides them") {
    val shown = new AwsKeys("ID-1", "hush", "token", null).toString
    assert(Seq("ID-1", "hush", "token").forall(!shown.contains(_)))
  }
}

object OwnProvider {
  @volatile var closed = 0
}

final class OwnProvider extends CredentialsProvider with AutoCloseable {
  override def credentials(): AwsKeys = new AwsKeys("ID", "hush", "token", null)
  override def close(): Unit = OwnProvider.closed += 1
}

/** No provider. Whatever of it runs initialises this object, except for a use of its constants. */
object Intruder {
  final val Ran = "sparkkinesis.intruder"
  final val Name = "sparkkinesis.client.aws.credentials.Intruder$"
  System.setProperty(Ran, "yes")

  def create(text: String): Intruder = new Intruder(text)
}

final class Intruder(text: String) {
  override def toString: String = s"$text: ${Intruder.Ran}"
}

object FactoryProvider {
  def create(path: String): CredentialsProvider = new NamedProvider(s"$path, made")
}

/** Its companion has the factory. */
abstract class FactoryProvider extends CredentialsProvider

final class NamedProvider(path: String) extends CredentialsProvider {
  override def credentials(): AwsKeys = new AwsKeys(s"KEY-OF-$path", "hush")
}

final class BrokenConstructor extends CredentialsProvider {
  require(sys.props.contains("no-such-property"), "no vault")
  override def credentials(): AwsKeys = new AwsKeys("ID", "hush")
}

final class SealedProvider extends CredentialsProvider {
  override def credentials(): AwsKeys = throw new IllegalStateException("the vault is sealed")
}

final class UnreachableProvider extends CredentialsProvider {
  override def credentials(): AwsKeys = throw new RuntimeException(new IOException("no route"))
}
