package sparkkinesis.client.access

import java.net.URI

/**
 * How requests travel to AWS. Serializable; prints no secret.
 *
 * @param proxy the HTTP proxy; otherwise that of the JVM or of the environment
 * @param caBundle path of a PEM file with the certificates to trust; otherwise the environment's
 *   file, or the JVM's trust store
 * @param useFips whether to call FIPS endpoints; otherwise the AWS SDK's settings decide
 * @param useDualStack whether to call endpoints with IPv6; otherwise the AWS SDK's settings decide
 */
private[sparkkinesis] final case class NetworkConfig(
    proxy: Option[ProxyConfig] = None,
    caBundle: Option[String] = None,
    useFips: Option[Boolean] = None,
    useDualStack: Option[Boolean] = None,
    timeouts: Timeouts = Timeouts.Default
)

private[sparkkinesis] object NetworkConfig {
  val Default: NetworkConfig = NetworkConfig()
}

/**
 * An HTTP proxy. Prints no secret.
 *
 * @param uri with scheme, host and port only
 */
private[sparkkinesis] final case class ProxyConfig(
    uri: URI,
    username: Option[String],
    password: Option[String]
) {
  override def toString: String =
    s"ProxyConfig($uri, username=$username, password=${password.map(_ => "***")})"
}
