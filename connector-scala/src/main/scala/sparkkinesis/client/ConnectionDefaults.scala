package sparkkinesis.client

import java.net.URI

import sparkkinesis.client.access.NetworkConfig
import sparkkinesis.model.StreamRef

/**
 * The connection of streams that rows name. Serializable; prints no secret.
 *
 * @param region of streams that are named without an ARN
 * @param endpoint used instead of the endpoint of each region
 */
private[sparkkinesis] final case class ConnectionDefaults(
    region: Option[String],
    endpoint: Option[URI],
    credentials: CredentialsConfig,
    network: NetworkConfig = NetworkConfig.Default
) {

  /**
   * @return `Left` with the reason, which follows "a stream that", if the stream has no connection
   */
  def accessTo(stream: StreamRef): Either[String, StreamAccess] = {
    val region = stream match {
      case StreamRef.ByArn(arn) => Some(arn.region)
      case StreamRef.ByName(_) => this.region
    }
    val endpointRegion = endpoint.flatMap(EndpointRegion.of)
    region match {
      case None => Left(s"has no known region: $stream. Set option 'region'")
      case Some(region) if endpointRegion.exists(_ != region) =>
        Left(
          s"is in $region: $stream. Option 'endpoint' is an endpoint of " +
            s"${endpointRegion.mkString}: remove it"
        )
      case Some(region) =>
        Right(StreamAccess(stream, ClientConfig(region, endpoint, credentials, network)))
    }
  }
}
