package sparkkinesis.client.aws.http

import java.io.ByteArrayInputStream
import java.net.URI
import java.nio.file.{Files, Path}
import java.security.KeyStore
import java.security.cert.CertificateFactory
import java.time.{Duration => JavaDuration}
import javax.net.ssl.{TrustManager, TrustManagerFactory}

import scala.jdk.CollectionConverters._
import scala.jdk.DurationConverters._
import scala.util.control.NonFatal

import software.amazon.awssdk.http.apache5.{Apache5HttpClient, ProxyConfiguration => ApacheProxy}
import software.amazon.awssdk.http.nio.netty.{
  Http2Configuration,
  NettyNioAsyncHttpClient,
  ProxyConfiguration => NettyProxy
}
import software.amazon.awssdk.http.{Protocol, SdkHttpClient, TlsTrustManagersProvider}

import sparkkinesis.client.access.NetworkConfig
import sparkkinesis.client.{FanOutClient, KinesisException}

/**
 * The HTTP clients of one service. Both use the same proxy and trust the same certificates.
 *
 * @param endpoint instead of that of AWS
 */
private[aws] final class HttpClients(network: NetworkConfig, endpoint: Option[URI]) {
  import HttpClients._
  import network.timeouts

  private val chosen =
    ProxyChooser.OfMachine.choose(network.proxy, endpoint.fold("https")(_.getScheme))
  private val trusted = TrustedCertificates.of(network, sys.env.get(_))

  /** The HTTP client for calls with one answer. */
  def sync: SdkHttpClient.Builder[_] = {
    val builder = Apache5HttpClient
      .builder()
      .maxConnections(MaxConnections)
      .connectionTimeout(timeouts.connect.toJava)
      .connectionAcquisitionTimeout(timeouts.connect.toJava)
      .socketTimeout(timeouts.attempt.toJava)
      .tcpKeepAlive(true)
      .proxyConfiguration(apacheProxy)
    trusted.foreach(builder.tlsTrustManagersProvider)
    new InterruptibleHttpClient.Builder(builder)
  }

  /** The HTTP client for subscriptions, which last for minutes. */
  def async(protocol: Protocol): NettyNioAsyncHttpClient.Builder = {
    val builder = NettyNioAsyncHttpClient
      .builder()
      .protocol(protocol)
      .maxConcurrency(MaxConnections)
      .maxPendingConnectionAcquires(MaxConnections)
      .connectionTimeout(timeouts.connect.toJava)
      .connectionAcquisitionTimeout(timeouts.call.toJava)
      .tlsNegotiationTimeout(timeouts.connect.toJava)
      // A reader that has no room reads nothing for long. The feed finds a subscription that is
      // silent.
      .readTimeout(JavaDuration.ofMinutes(10))
      .http2Configuration((it: Http2Configuration.Builder) =>
        it.initialWindowSize(FanOutClient.WindowBytes): Unit
      )
      .tcpKeepAlive(true)
      .proxyConfiguration(nettyProxy)
    trusted.foreach(builder.tlsTrustManagersProvider)
    builder
  }

  private def apacheProxy: ApacheProxy = {
    val builder =
      ApacheProxy.builder().useSystemPropertyValues(false).useEnvironmentVariableValues(false)
    chosen.foreach { it =>
      builder.endpoint(bare(it.proxy.uri)).nonProxyHosts(it.direct.asJava)
      builder.preemptiveBasicAuthenticationEnabled(it.proxy.username.nonEmpty)
      it.proxy.username.foreach(builder.username)
      it.proxy.password.foreach(builder.password)
    }
    builder.build()
  }

  private def nettyProxy: NettyProxy = {
    val builder =
      NettyProxy.builder().useSystemPropertyValues(false).useEnvironmentVariableValues(false)
    chosen.foreach { it =>
      val uri = it.proxy.uri
      builder.scheme(uri.getScheme).host(uri.getHost).port(uri.getPort)
      builder.nonProxyHosts(it.direct.asJava)
      it.proxy.username.foreach(builder.username)
      it.proxy.password.foreach(builder.password)
    }
    builder.build()
  }
}

private object HttpClients {

  /**
   * Connections per client. All fetchers and writers of one JVM share a client, so the bound is
   * higher than they need: waiting for a connection would count against the timeout of a call. The
   * client closes idle connections.
   */
  private val MaxConnections = 10000

  /** The SDK refuses a path, even a slash. */
  private def bare(uri: URI): URI = URI.create(s"${uri.getScheme}://${uri.getAuthority}")
}

/** The certificates of a PEM file. The client trusts these, and no others. */
private final class TrustedCertificates private (managers: Array[TrustManager])
    extends TlsTrustManagersProvider {
  override def trustManagers(): Array[TrustManager] = managers
}

private object TrustedCertificates {

  /** The AWS command line interface and boto3 read it, too. */
  private val Variable = "AWS_CA_BUNDLE"

  /**
   * `None` if neither the option nor the environment names a file: then the JVM's trust store
   * counts.
   *
   * @param variable of the environment
   * @throws KinesisException.InvalidArgument if the file cannot be read, or contains no certificate
   */
  def of(network: NetworkConfig, variable: String => Option[String]): Option[TrustedCertificates] =
    network.caBundle
      .map(_ -> "option 'caBundle'")
      .orElse(variable(Variable).filter(_.nonEmpty).map(_ -> s"the variable $Variable"))
      .map { case (file, origin) =>
        try new TrustedCertificates(read(Path.of(file)))
        catch {
          case NonFatal(e) =>
            throw new KinesisException.InvalidArgument(
              s"The file '$file' of $origin cannot be used on this machine: $e. Put a PEM file " +
                "with certificates there, on the driver and on each executor.",
              e
            )
        }
      }

  private def read(file: Path): Array[TrustManager] = {
    val found = CertificateFactory
      .getInstance("X.509")
      .generateCertificates(new ByteArrayInputStream(Files.readAllBytes(file)))
      .asScala
      .toSeq
    require(found.nonEmpty, "it contains no certificate")
    val store = KeyStore.getInstance(KeyStore.getDefaultType)
    store.load(null, null)
    found.zipWithIndex.foreach { case (certificate, number) =>
      store.setCertificateEntry(number.toString, certificate)
    }
    val factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm)
    factory.init(store)
    factory.getTrustManagers
  }
}
