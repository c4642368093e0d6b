package sparkkinesis.client

import java.net.URI

import sparkkinesis.model.StreamRef

/**
 * How streams are reached that no option names, but a row. Travels to executors; prints no secret.
 *
 * @param region of those that are known by name; an ARN tells its own
 * @param endpoint in place of each region's own
 */
final case class StreamReach(
    region: Option[String],
    endpoint: Option[URI],
    credentials: CredentialsConfig
) {

  /** @return or else why not, to go on "a stream that ..." */
  def apply(stream: StreamRef): Either[String, StreamAccess] = {
    val its = stream match {
      case StreamRef.ByArn(arn) => Some(arn.region)
      case StreamRef.ByName(_) => region
    }
    val ofEndpoint = endpoint.flatMap(EndpointRegion.of)
    its match {
      case None => Left(s"lies in no region that is known: $stream. Set option 'region'")
      case Some(its) if ofEndpoint.exists(_ != its) =>
        Left(
          s"lies in $its: $stream. Option 'endpoint' is one of ${ofEndpoint.mkString}: leave it out"
        )
      case Some(its) => Right(StreamAccess(stream, ClientConfig(its, endpoint, credentials)))
    }
  }
}
