package sparkkinesis.client

import java.net.URI

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client.options._
import sparkkinesis.model.{StreamArn, StreamName, StreamRef}

class ConnectionDefaultsSuite extends AnyFunSuite {
  private val byName = StreamRef.ByName(StreamName("orders"))
  private val arn = "arn:aws:kinesis:eu-west-1:123456789012:stream/orders"
  private val byArn = StreamRef.ByArn(StreamArn.parse(arn).get)

  private def defaults(
      options: Map[String, String],
      isByName: Boolean = true,
      defaultRegion: => Option[String] = None
  ): ConnectionDefaults = {
    val parsed = Options.parse(options, ConnectionTable.all)
    ConnectionOptions.defaults(parsed, isByName, defaultRegion)
  }

  private def regionOf(defaults: ConnectionDefaults, stream: StreamRef) =
    defaults.accessTo(stream).map(_.client.region)

  test("an ARN gives the region of its stream; the options give the region of a stream name") {
    val options = defaults(Map("region" -> "us-east-1"))
    assert(regionOf(options, byArn) === Right("eu-west-1"))
    assert(regionOf(options, byName) === Right("us-east-1"))
  }

  test("the region of stream names comes from the endpoint, else the default") {
    val endpoint = Map("endpoint" -> "https://kinesis.eu-west-2.amazonaws.com")
    assert(regionOf(defaults(endpoint), byName) === Right("eu-west-2"))
    assert(regionOf(defaults(Map.empty, defaultRegion = Some("r")), byName) === Right("r"))
  }

  test("names require a region; ARNs do not, and the default is not looked up") {
    val e = intercept[OptionException](defaults(Map.empty))
    assert(e.condition === OptionException.MissingRegion)
    assert(e.getMessage.startsWith("The region of the streams that the rows name is unknown."))
    val byArns = defaults(Map.empty, isByName = false, defaultRegion = fail("not asked"))
    assert(regionOf(byArns, byArn) === Right("eu-west-1"))
    assert(byArns.accessTo(byName).left.exists(_.contains("Set option 'region'")))
  }

  test("an AWS endpoint serves the streams of its region only; a local endpoint serves all") {
    val aws = defaults(Map("endpoint" -> "https://kinesis.eu-west-2.amazonaws.com"))
    assert(aws.accessTo(byArn).left.exists(_.contains("is in eu-west-1")))
    val local = defaults(Map("endpoint" -> "http://127.0.0.1:4567", "region" -> "r"))
    assert(
      local.accessTo(byArn).map(_.client.endpoint) === Right(
        Some(URI.create("http://127.0.0.1:4567"))
      )
    )
  }
}
