package sparkkinesis.client.aws

import java.net.URI

import scala.jdk.CollectionConverters._
import scala.util.Try

import org.scalatest.funsuite.AnyFunSuite
import software.amazon.awssdk.regions.Region
import software.amazon.awssdk.services.kinesis.endpoints.{
  KinesisEndpointParams,
  KinesisEndpointProvider
}

import sparkkinesis.client._
import sparkkinesis.client.access.Timeouts
import sparkkinesis.model.{StreamArn, StreamRef}

/** The endpoint that the AWS SDK chooses decides whether a client calls AWS. */
class AwsEndpointSuite extends AnyFunSuite {
  private val keys =
    CredentialsConfig(CredentialsSource.Static("ID", "hush", sessionToken = None), role = None)

  private def of(endpoint: Option[String]): KinesisClient =
    AwsClientFactory.create(ClientConfig("eu-west-1", endpoint.map(URI.create(_)), keys))

  private def isAws(endpoint: Option[String]): Boolean = {
    val client = of(endpoint)
    try client.isAws
    finally client.close()
  }

  /** Like `AWS_ENDPOINT_URL_KINESIS`, which a test cannot set. */
  private def withProperty[A](use: => A): A = {
    System.setProperty("aws.endpointUrlKinesis", "http://127.0.0.1:9")
    try use
    finally System.clearProperty("aws.endpointUrlKinesis"): Unit
  }

  test("without an endpoint, or with one of AWS, it is AWS") {
    assert(isAws(None) && isAws(Some("https://kinesis-fips.us-east-1.amazonaws.com")))
  }

  test("with another endpoint in the options it is not") {
    assert(!isAws(Some("http://127.0.0.1:9")))
  }

  test("with another endpoint in the settings of the SDK it is not") {
    assert(!withProperty(isAws(None)))
  }

  test("the option precedes the settings of the SDK") {
    assert(withProperty(isAws(Some("https://kinesis.eu-west-1.amazonaws.com"))))
  }

  test("an error names the endpoint that was called") {
    val client = withProperty(of(None))
    try {
      val e = intercept[KinesisException](client.describeStream(sparkkinesis.Generators.stream))
      assert(e.getMessage.contains("region eu-west-1, endpoint http://127.0.0.1:9"))
    } finally client.close()
  }

  private def rule(set: KinesisEndpointParams.Builder => KinesisEndpointParams.Builder): String = {
    val call: KinesisEndpointParams =
      set(KinesisEndpointParams.builder().region(Region.EU_WEST_1)).build()
    KinesisEndpointProvider.defaultProvider.resolveEndpoint(call).join().endpointUrl.host
  }

  private val arn = "arn:aws:kinesis:eu-west-1:123456789012:stream/orders"

  test("the SDK calls the host of an account if the call names a stream or a consumer by its ARN") {
    assert(rule(identity) === "kinesis.eu-west-1.amazonaws.com")
    assert(
      rule(_.streamArn(arn).operationType("data")) ===
        "123456789012.data-kinesis.eu-west-1.amazonaws.com"
    )
    assert(
      rule(_.streamArn(arn).operationType("control").useFips(true)) ===
        "123456789012.control-kinesis-fips.eu-west-1.amazonaws.com"
    )
    assert(
      rule(_.consumerArn(s"$arn/consumer/app:1").operationType("data").useDualStack(true)) ===
        "123456789012.data-kinesis.eu-west-1.api.aws"
    )
  }

  test("each endpoint of the SDK is one of AWS, and names its region") {
    val regions = Region.regions.asScala.filterNot(_.isGlobalRegion)
    assert(regions.size > 30)
    for (region <- regions; dualStack <- Seq(false, true); ofAccount <- Seq(false, true)) {
      val partition = region.metadata.partition.id
      def host = rule { it =>
        val inRegion = it.region(region).useDualStack(dualStack)
        if (!ofAccount) inRegion
        else inRegion.streamArn(arn.replace("arn:aws:", s"arn:$partition:")).operationType("data")
      }
      // Some partitions have no dual-stack endpoints.
      Try(host).foreach { it =>
        val config = ClientConfig("x", Some(URI.create(s"https://$it")), keys)
        assert(config.isAws, it)
        assert(EndpointRegion.of(URI.create(s"https://$it")) === Some(region.id), it)
      }
    }
  }

  test("other servers are none of AWS, whatever their names hold") {
    Seq("kinesis.eu-west-1.localhost.localstack.cloud", "kinesis.amazonaws.com.example.org")
      .foreach { host =>
        assert(!isAws(Some(s"https://$host")), host)
      }
  }

  test("an error names the host that was called, also if it has no address") {
    val client = AwsClientFactory.create(
      ClientConfig("eu-nowhere-1", None, keys),
      Timeouts.Default
    )
    try {
      val stream = StreamRef.ByArn(StreamArn.parse(arn.replace("eu-west-1", "eu-nowhere-1")).get)
      val e = intercept[KinesisException](client.describeStream(stream))
      val host = "123456789012.control-kinesis.eu-nowhere-1.amazonaws.com"
      assert(e.getMessage.contains(s"(region eu-nowhere-1, host $host) failed"))
    } finally client.close()
  }
}
