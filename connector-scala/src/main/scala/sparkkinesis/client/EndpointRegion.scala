package sparkkinesis.client

import java.net.URI
import java.util.Locale

/** Finds the region in the host name of an AWS endpoint: public, FIPS, or in a VPC. */
private[client] object EndpointRegion {
  private val Domain = "(?:vpce\\.)?(?:amazonaws\\.com|amazonaws\\.com\\.cn|api\\.aws)"
  private val Host = s"(?i)(?:.+\\.)?kinesis(?:-fips)?\\.([a-z0-9-]+)\\.$Domain".r

  /** @return `None` if the host is not an AWS endpoint of Kinesis */
  def of(endpoint: URI): Option[String] = Option(endpoint.getHost).collect { case Host(region) =>
    region.toLowerCase(Locale.ROOT)
  }
}
