package sparkkinesis.client.aws

import java.io.File
import java.net.{InetAddress, InetSocketAddress}
import java.nio.charset.StandardCharsets.US_ASCII
import java.nio.file.{Files, Path}
import java.security.KeyStore
import java.util.Base64
import java.util.concurrent.{ConcurrentLinkedQueue, LinkedBlockingQueue, TimeUnit}
import javax.net.ssl.{KeyManagerFactory, SSLContext}

import scala.jdk.CollectionConverters._
import scala.sys.process._

import com.sun.net.httpserver.{HttpsConfigurator, HttpsServer}
import org.scalatest.funsuite.AnyFunSuite
import software.amazon.awssdk.http.Protocol

import sparkkinesis.TemporaryFolders
import sparkkinesis.client._
import sparkkinesis.client.access.{NetworkConfig, ProxyConfig}
import sparkkinesis.client.aws.http.ProxyStub
import sparkkinesis.model._

/** Proxies, certificates and kinds of endpoints, on the wire: no request leaves this machine. */
class AwsNetworkSuite extends AnyFunSuite with TemporaryFolders {
  private val stream = StreamRef.ByName(StreamName("orders"))
  private val consumer =
    ConsumerArn.parse("arn:aws:kinesis:eu-west-1:123456789012:stream/orders/consumer/app:1").get
  private val keys = CredentialsSource.Static("ID", "hush", None)
  private val role = RoleConfig("arn:aws:iam::123456789012:role/r", "spark", None, None)

  private def through(stub: ProxyStub, user: Option[String] = None): NetworkConfig =
    NetworkConfig(proxy = Some(ProxyConfig(stub.uri, user, user.map(_ => "open sesame"))))

  private def withClient[A](network: NetworkConfig, role: Option[RoleConfig] = None)(
      use: KinesisClient => A
  ): A = {
    val config = ClientConfig("eu-west-1", None, CredentialsConfig(keys, role), network)
    val client = AwsClientFactory.create(config, Protocol.HTTP1_1)
    try use(client)
    finally client.close()
  }

  private def withProxy[A](target: Option[Int] = None)(use: ProxyStub => A): A = {
    val stub = new ProxyStub(target)
    try use(stub)
    finally stub.close()
  }

  private def describe(client: KinesisClient): KinesisException =
    intercept[KinesisException](client.describeStream(stream))

  /** The end of a subscription. */
  private def subscribe(client: KinesisClient): KinesisException = {
    val ends = new LinkedBlockingQueue[Option[KinesisException]]
    val subscriber = new EventSubscriber {
      override def opened(time: Option[java.time.Instant]): Unit = ()
      override def event(event: ShardEvent): Unit = ()
      override def ended(failure: Option[KinesisException]): Unit = { ends.add(failure); () }
    }
    client.fanOut.subscribe(
      consumer,
      ShardId("shardId-000000000000"),
      Position.TrimHorizon,
      subscriber
    )
    ends.poll(20, TimeUnit.SECONDS).get
  }

  private def hostsAsked(network: NetworkConfig => NetworkConfig, role: Option[RoleConfig] = None)(
      call: KinesisClient => KinesisException
  ): Seq[String] = withProxy() { stub =>
    withClient(network(through(stub)), role)(client => assert(call(client).isRetryable))
    stub.hosts.distinct
  }

  test("requests and subscriptions go through the proxy, to the endpoint of the region") {
    val host = Seq("kinesis.eu-west-1.amazonaws.com")
    assert(hostsAsked(identity)(describe) === host)
    assert(hostsAsked(identity)(subscribe).map(_.takeRight(host.head.length)) === host)
  }

  test("requests to STS go through the proxy, too") {
    assert(hostsAsked(identity, Some(role))(describe) === Seq("sts.eu-west-1.amazonaws.com"))
  }

  test("FIPS and dual-stack endpoints are those of Kinesis and of STS") {
    def fips(it: NetworkConfig) = it.copy(useFips = Some(true))
    def dual(it: NetworkConfig) = it.copy(useDualStack = Some(true))
    assert(hostsAsked(fips)(describe) === Seq("kinesis-fips.eu-west-1.amazonaws.com"))
    assert(hostsAsked(dual)(describe) === Seq("kinesis.eu-west-1.api.aws"))
    assert(hostsAsked(it => dual(fips(it)))(describe) === Seq("kinesis-fips.eu-west-1.api.aws"))
    assert(hostsAsked(fips, Some(role))(describe) === Seq("sts-fips.eu-west-1.amazonaws.com"))
    assert(hostsAsked(fips)(subscribe).forall(_.contains("kinesis-fips.eu-west-1")))
  }

  test("the client authenticates at the proxy, and its errors do not contain the password") {
    val credentials = Base64.getEncoder.encodeToString("me:open sesame".getBytes(US_ASCII))
    Seq[KinesisClient => KinesisException](describe, subscribe).foreach { call =>
      withProxy() { stub =>
        val failure = withClient(through(stub, Some("me")))(call)
        val headers = stub.requests.flatten.map(_.toLowerCase)
        assert(headers.contains(s"proxy-authorization: basic $credentials".toLowerCase))
        assert(
          !failure.toString
            .contains("sesame") && !String.valueOf(failure.getCause).contains("sesame")
        )
      }
    }
  }

  private def withProperties[A](properties: (String, String)*)(use: => A): A = {
    properties.foreach { case (name, value) => System.setProperty(name, value) }
    try use
    finally properties.foreach { case (name, _) => System.clearProperty(name) }
  }

  test("the JVM's proxy is used, except for the hosts that it excludes") {
    withProxy() { stub =>
      val jvm =
        Seq("https.proxyHost" -> "127.0.0.1", "https.proxyPort" -> stub.uri.getPort.toString)
      withProperties(jvm: _*) {
        withClient(NetworkConfig.Default)(describe)
        withClient(NetworkConfig.Default)(subscribe)
      }
      assert(stub.requests.size === 2)
    }
  }

  /** Kinesis with a certificate of an authority that no machine knows. */
  private class SecureKinesis(folder: Path) extends AutoCloseable {
    private val store = folder.resolve("keys.p12")
    val agents = new ConcurrentLinkedQueue[String]

    private def keytool(arguments: String*): Unit = {
      val tool = Path.of(sys.props("java.home"), "bin", "keytool").toString
      val shared = Seq("-keystore", store.toString, "-storepass", "secret", "-alias", "kinesis")
      val log = ProcessLogger(_ => ())
      assert(((tool +: arguments) ++ shared).!(log) === 0)
    }
    private val names = "SAN=dns:kinesis.eu-west-1.amazonaws.com,dns:*.eu-west-1.amazonaws.com," +
      "dns:*.control-kinesis.eu-west-1.amazonaws.com,dns:*.data-kinesis.eu-west-1.amazonaws.com"
    keytool("-genkeypair", "-keyalg", "EC", "-dname", "CN=test", "-ext", names)
    val certificate: Path = folder.resolve("ca.pem")
    keytool("-exportcert", "-rfc", "-file", certificate.toString)

    private val server =
      HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress, 0), 50)
    server.setHttpsConfigurator(new HttpsConfigurator(context))
    server.createContext(
      "/",
      exchange => {
        exchange.getRequestBody.readAllBytes()
        agents.add(exchange.getRequestHeaders.getFirst("User-Agent"))
        val body = HttpStub.failure("ResourceNotFoundException")
        exchange.getResponseHeaders.add("Content-Type", "application/x-amz-cbor-1.1")
        exchange.sendResponseHeaders(400, body.length.toLong)
        exchange.getResponseBody.write(body)
        exchange.close()
      }
    )
    server.start()

    private def context: SSLContext = {
      val keys = KeyStore.getInstance(new File(store.toString), "secret".toCharArray)
      val managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm)
      managers.init(keys, "secret".toCharArray)
      val context = SSLContext.getInstance("TLS")
      context.init(managers.getKeyManagers, null, null)
      context
    }

    def port: Int = server.getAddress.getPort
    def trustStore: Path = store
    override def close(): Unit = server.stop(0)
  }

  private def withSecure[A](use: (SecureKinesis, NetworkConfig) => A): A = {
    val kinesis = new SecureKinesis(newFolder())
    try withProxy(Some(kinesis.port))(stub => use(kinesis, through(stub)))
    finally kinesis.close()
  }

  /** By the server itself: TLS has succeeded. */
  private def isAnswered(failure: KinesisException): Boolean =
    failure.getMessage.toLowerCase.contains("status code: 400") ||
      failure.isInstanceOf[KinesisException.NotFound]

  test("a server whose certificate is unknown is unreachable") {
    withSecure { (_, network) =>
      val failure = withClient(network)(describe)
      assert(
        failure.isInstanceOf[KinesisException.Unreachable] && failure.getMessage.contains("PKIX")
      )
      assert(withClient(network)(subscribe).isInstanceOf[KinesisException.Unreachable])
    }
  }

  test("with caBundle, both clients trust its certificates; their requests name us") {
    withSecure { (kinesis, network) =>
      val trusting = network.copy(caBundle = Some(kinesis.certificate.toString))
      assert(isAnswered(withClient(trusting)(describe)))
      assert(isAnswered(withClient(trusting)(subscribe)))
      val agents = kinesis.agents.asScala.toSeq
      assert(agents.size === 2 && agents.forall(_.matches("spark-kinesis/\\S+ aws-sdk-java/.*")))
    }
  }

  test("the JVM's trust store counts without caBundle") {
    withSecure { (kinesis, network) =>
      val store = Seq("trustStore" -> kinesis.trustStore.toString, "trustStorePassword" -> "secret")
      withProperties(store.map { case (name, value) => s"javax.net.ssl.$name" -> value }: _*) {
        assert(isAnswered(withClient(network)(describe)))
        assert(isAnswered(withClient(network)(subscribe)))
      }
    }
  }

  test("a CA bundle that cannot be used is refused with its path") {
    val folder = newFolder()
    val empty = Files.createFile(folder.resolve("empty.pem"))
    Seq(empty, folder.resolve("missing.pem")).foreach { file =>
      val network = NetworkConfig(caBundle = Some(file.toString))
      val e = intercept[KinesisException.InvalidArgument](withClient(network)(describe))
      assert(e.getMessage.contains(s"The file '$file' of option 'caBundle'"))
    }
  }
}
