package sparkkinesis.client.aws.http

import java.io.ByteArrayInputStream
import java.nio.file.{Files, Path}
import java.security.KeyStore
import java.security.cert.CertificateFactory
import javax.net.ssl.{TrustManager, TrustManagerFactory}

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import software.amazon.awssdk.http.TlsTrustManagersProvider

import sparkkinesis.client.KinesisException
import sparkkinesis.client.access.NetworkConfig

/** The certificates of a PEM file. The client trusts these, and no others. */
private[aws] final class TrustedCertificates private (managers: Array[TrustManager])
    extends TlsTrustManagersProvider {
  override def trustManagers(): Array[TrustManager] = managers
}

private[aws] object TrustedCertificates {

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
