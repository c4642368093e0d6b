package sparkkinesis.client

import java.net.URI
import java.util.Locale

import sparkkinesis.client.access.NetworkConfig
import sparkkinesis.model.StreamRef

/**
 * The connection to Kinesis. Serializable; prints no secret.
 *
 * @param region such as `eu-west-1`
 * @param endpoint used instead of the endpoint that the AWS SDK chooses
 */
private[sparkkinesis] final case class ClientConfig(
    region: String,
    endpoint: Option[URI],
    credentials: CredentialsConfig,
    network: NetworkConfig = NetworkConfig.Default
) {

  /** Whether the endpoint is one of AWS: by default, or by its name. */
  def isAws: Boolean = endpoint.forall(EndpointRegion.of(_).isDefined)

  /** Region and endpoint, for messages. */
  def location: String = endpoint.fold(s"region $region")(uri => s"region $region, endpoint $uri")
}

/** A stream as the user named it, and its connection. */
private[sparkkinesis] final case class StreamAccess(ref: StreamRef, client: ClientConfig)

/** Credentials, and the role that they assume, if any. */
private[sparkkinesis] final case class CredentialsConfig(
    source: CredentialsSource,
    role: Option[RoleConfig]
)

/** The source of the credentials that sign calls, or that assume the role. */
private[sparkkinesis] sealed trait CredentialsSource

private[sparkkinesis] object CredentialsSource {

  /** The SDK's default chain: environment, system properties, profile, container, instance. */
  case object DefaultChain extends CredentialsSource

  /** A named profile of the AWS configuration files. */
  final case class Profile(name: String) extends CredentialsSource

  /**
   * A class of the user. See [[access.CredentialsProvider]].
   *
   * @param secret for its constructor or its method `create`
   */
  final case class Provider(className: String, secret: Option[String]) extends CredentialsSource {
    override def toString: String = s"Provider($className, ${secret.map(_ => "***")})"
  }

  /** Keys in the options. */
  final case class Static(keyId: String, secretKey: String, sessionToken: Option[String])
      extends CredentialsSource {
    override def toString: String = "Static(***)"
  }
}

/**
 * A role to assume. Its credentials are renewed before they expire.
 *
 * @param externalId the value that the owner of the role requires
 * @param stsEndpoint used instead of the endpoint of the region
 */
private[sparkkinesis] final case class RoleConfig(
    arn: String,
    sessionName: String,
    externalId: Option[String],
    stsEndpoint: Option[URI]
) {
  override def toString: String =
    s"RoleConfig($arn, $sessionName, externalId=${externalId.map(_ => "***")})"
}

/**
 * Finds the region in the host name of an AWS endpoint: public, of an account, FIPS, dual-stack, or
 * in a VPC; in each partition of AWS.
 */
private[client] object EndpointRegion {
  private val Domains = Seq(
    "(?:vpce\\.)?amazonaws\\.com(?:\\.cn)?",
    "api\\.aws",
    "api\\.amazonwebservices\\.com\\.cn",
    "amazonaws\\.eu",
    "api\\.amazonwebservices\\.eu",
    // The isolated partitions.
    "c2s\\.ic\\.gov",
    "api\\.aws\\.ic\\.gov",
    "sc2s\\.sgov\\.gov",
    "api\\.aws\\.scloud",
    "cloud\\.adc-e\\.uk",
    "api\\.cloud-aws\\.adc-e\\.uk",
    "csp\\.hci\\.ic\\.gov",
    "api\\.aws\\.hci\\.ic\\.gov"
  )
  private val Service = "(?:(?:data|control)-)?kinesis(?:-fips)?"
  private val Host = s"(?i)(?:.+\\.)?$Service\\.([a-z0-9-]+)\\.(?:${Domains.mkString("|")})".r

  /** @return `None` if the host is not an AWS endpoint of Kinesis */
  def of(endpoint: URI): Option[String] = Option(endpoint.getHost).collect { case Host(region) =>
    region.toLowerCase(Locale.ROOT)
  }
}
