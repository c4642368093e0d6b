package sparkkinesis.client.aws

import java.net.URI

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client._

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
}
