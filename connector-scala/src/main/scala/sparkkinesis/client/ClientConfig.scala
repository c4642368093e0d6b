package sparkkinesis.client

import java.net.URI

import sparkkinesis.model.StreamRef

/**
 * How to reach Kinesis. Travels to executors; prints no secret.
 *
 * @param region such as `eu-west-1`
 * @param endpoint in place of the region's own
 */
final case class ClientConfig(
    region: String,
    endpoint: Option[URI],
    credentials: CredentialsConfig
) {

  /** For messages: where the calls go. */
  def target: String = endpoint.fold(s"region $region")(uri => s"region $region, endpoint $uri")
}

/** A stream as a user named it, and how to reach it. */
final case class StreamAccess(ref: StreamRef, client: ClientConfig)

/** Who asks. */
final case class CredentialsConfig(source: CredentialsSource, role: Option[RoleConfig])

/** Where the first credentials come from. */
sealed trait CredentialsSource

object CredentialsSource {

  /** The SDK's default chain: environment, system properties, profile, container, instance. */
  case object DefaultChain extends CredentialsSource

  /** A named profile of the AWS configuration files. */
  final case class Profile(name: String) extends CredentialsSource

  /** Keys given as options. */
  final case class Static(keyId: String, secretKey: String, sessionToken: Option[String])
      extends CredentialsSource {
    override def toString: String = "Static(***)"
  }
}

/**
 * A role assumed with the first credentials, renewed before it expires.
 *
 * @param externalId as the role's owner asks for it
 * @param stsEndpoint in place of the region's own
 */
final case class RoleConfig(
    arn: String,
    sessionName: String,
    externalId: Option[String],
    stsEndpoint: Option[URI]
) {
  override def toString: String =
    s"RoleConfig($arn, $sessionName, externalId=${externalId.map(_ => "***")})"
}
