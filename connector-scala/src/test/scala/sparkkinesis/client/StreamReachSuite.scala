package sparkkinesis.client

import java.net.URI

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client.options.{ConnectionOptions, OptionException, Options}
import sparkkinesis.model.{StreamArn, StreamName, StreamRef}

class StreamReachSuite extends AnyFunSuite {
  private val byName = StreamRef.ByName(StreamName("orders"))
  private val arn = "arn:aws:kinesis:eu-west-1:123456789012:stream/orders"
  private val byArn = StreamRef.ByArn(StreamArn.parse(arn).get)

  private def reach(
      options: Map[String, String],
      isByName: Boolean = true,
      defaultRegion: => Option[String] = None
  ): StreamReach = {
    val parsed = Options.parse(options, ConnectionOptions.Names)
    val fixed = Option.when(ConnectionOptions.nameStream(parsed)) {
      ConnectionOptions.stream(parsed, defaultRegion)
    }
    ConnectionOptions.reach(parsed, fixed, isByName, defaultRegion)
  }

  private def regionOf(reach: StreamReach, stream: StreamRef) = reach(stream).map(_.client.region)

  test("an ARN tells the region, whatever the options say; a name has theirs") {
    val options = reach(Map("region" -> "us-east-1"))
    assert(regionOf(options, byArn) === Right("eu-west-1"))
    assert(regionOf(options, byName) === Right("us-east-1"))
  }

  test("names lie where the options' own stream does, then where the endpoint, then by default") {
    assert(regionOf(reach(Map("streamArn" -> arn)), byName) === Right("eu-west-1"))
    val endpoint = Map("endpoint" -> "https://kinesis.eu-west-2.amazonaws.com")
    assert(regionOf(reach(endpoint), byName) === Right("eu-west-2"))
    assert(regionOf(reach(Map.empty, defaultRegion = Some("r")), byName) === Right("r"))
  }

  test("names without a region are refused; ARNs need none, and nobody asks for it") {
    val e = intercept[OptionException](reach(Map.empty))
    assert(e.condition === OptionException.MissingRegion)
    assert(e.getMessage.startsWith("In which region are the streams that the rows name?"))
    val byArns = reach(Map.empty, isByName = false, defaultRegion = fail("not asked"))
    assert(regionOf(byArns, byArn) === Right("eu-west-1"))
    assert(byArns(byName).left.exists(_.contains("Set option 'region'")))
  }

  test("a stream in another region than the endpoint's is out of reach; a local one has them all") {
    val aws = reach(Map("endpoint" -> "https://kinesis.eu-west-2.amazonaws.com"))
    assert(aws(byArn).left.exists(_.contains("lies in eu-west-1")))
    val local = reach(Map("endpoint" -> "http://127.0.0.1:4567", "region" -> "r"))
    assert(local(byArn).map(_.client.endpoint) === Right(Some(URI.create("http://127.0.0.1:4567"))))
  }
}
