package sparkkinesis.client

import java.net.URI

import sparkkinesis.client.options.Options

/** The region that an endpoint of AWS lies in, as its host tells: public, FIPS, or of a VPC. */
private[client] object EndpointRegion {
  private val Domain = "(?:vpce\\.)?(?:amazonaws\\.com|amazonaws\\.com\\.cn|api\\.aws)"
  private val Host = s"(?i)(?:.+\\.)?kinesis(?:-fips)?\\.([a-z0-9-]+)\\.$Domain".r

  /** @return `None` where the host is no endpoint of Kinesis at AWS */
  def of(endpoint: URI): Option[String] = Option(endpoint.getHost).collect { case Host(region) =>
    Options.lower(region)
  }
}
