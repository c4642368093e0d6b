package sparkkinesis.client.aws.credentials

import java.net.URI

import scala.util.Try

import org.scalatest.funsuite.AnyFunSuite
import software.amazon.awssdk.auth.credentials._
import software.amazon.awssdk.core.exception.{AbortedException, SdkClientException}
import software.amazon.awssdk.services.sts.auth.StsAssumeRoleCredentialsProvider

import sparkkinesis.client.aws.AwsClientFactory
import sparkkinesis.client.{
  ClientConfig,
  CredentialsConfig,
  CredentialsSource,
  KinesisException,
  RoleConfig
}

class ClientCredentialsSuite extends AnyFunSuite {
  private val keys = CredentialsSource.Static("ID", "hush", Some("token"))
  private val role = RoleConfig(
    "arn:aws:iam::123456789012:role/reader",
    "spark",
    Some("outside"),
    Some(URI.create("http://127.0.0.1:1"))
  )

  private def config(source: CredentialsSource, role: Option[RoleConfig] = None) =
    ClientConfig("eu-west-1", None, CredentialsConfig(source, role))

  private def opened(config: ClientConfig): (AwsCredentialsProvider, String) = {
    val credentials = ClientCredentials.open(config)
    try {
      val guarded = credentials.provider.asInstanceOf[ClientCredentials.MarkingProvider]
      (guarded.inner, guarded.toString)
    } finally credentials.close()
  }

  test("each source of credentials has its provider") {
    assert(
      opened(config(CredentialsSource.DefaultChain))._1.isInstanceOf[DefaultCredentialsProvider]
    )
    assert(
      opened(config(CredentialsSource.Profile("p")))._1.isInstanceOf[ProfileCredentialsProvider]
    )
    assert(opened(config(keys, Some(role)))._1.isInstanceOf[StsAssumeRoleCredentialsProvider])
  }

  test("static keys are used, with the session token if there is one") {
    val (withToken, text) = opened(config(keys))
    withToken.resolveCredentials() match {
      case session: AwsSessionCredentials =>
        assert(session.accessKeyId === "ID")
        assert(session.secretAccessKey === "hush")
        assert(session.sessionToken === "token")
      case other => fail(s"no session: ${other.getClass}")
    }
    assert(!text.contains("hush") && !text.contains("token"))
    val plain = ClientCredentials.source(keys.copy(sessionToken = None)).resolveCredentials()
    assert(plain.isInstanceOf[AwsBasicCredentials])
  }

  test("a role is requested with its session name and external id") {
    val request = ClientCredentials.roleRequest(role)
    assert(request.roleArn === role.arn)
    assert(request.roleSessionName === "spark")
    assert(request.externalId === "outside")
    assert(ClientCredentials.roleRequest(role.copy(externalId = None)).externalId === null)
  }

  test(
    "missing credentials raise an error of their own; an interrupted lookup stays an interruption"
  ) {
    def guarded(failure: RuntimeException) =
      new ClientCredentials.MarkingProvider(new AwsCredentialsProvider {
        override def resolveCredentials(): AwsCredentials = throw failure
      })
    assertThrows[ClientCredentials.Unavailable] {
      guarded(SdkClientException.create("none")).resolveCredentials()
    }
    assertThrows[AbortedException](guarded(AbortedException.create("x")).resolveCredentials())
  }

  test("an error of the default chain says where it is from, because it has no cause") {
    val chain = ClientCredentials.source(CredentialsSource.DefaultChain)
    System.setProperty("aws.disableEc2Metadata", "true")
    try {
      assume(Try(chain.resolveCredentials()).isFailure, "this machine has credentials")
      val marking = new ClientCredentials.MarkingProvider(chain)
      val e = intercept[ClientCredentials.Unavailable](marking.resolveCredentials())
      assert(e.isOfChain && e.getCause.getCause === null)
    } finally System.clearProperty("aws.disableEc2Metadata"): Unit
  }

  test("no secret is in a printed configuration") {
    val printed = config(keys, Some(role)).toString
    assert(!printed.contains("hush") && !printed.contains("token") && !printed.contains("outside"))
  }

  private def failure(config: ClientConfig): KinesisException = {
    val client = AwsClientFactory.create(config.copy(endpoint = role.stsEndpoint))
    val stream = sparkkinesis.model.StreamRef.ByName(sparkkinesis.model.StreamName("orders"))
    try intercept[KinesisException](client.describeStream(stream))
    finally client.close()
  }

  test("a profile that does not exist raises BadCredentials, which names the profile") {
    val e = failure(config(CredentialsSource.Profile("no-such-profile")))
    assert(e.isInstanceOf[KinesisException.BadCredentials])
    assert(e.getMessage.contains("no-such-profile"))
    assert(e.getMessage.contains("stream orders (region eu-west-1, endpoint http://127.0.0.1:1)"))
  }

  test("an error names STS and the role if STS cannot be reached") {
    val e = failure(config(keys, Some(role)))
    assert(e.isInstanceOf[KinesisException.Unreachable])
    val start = s"STS returned no credentials for role ${role.arn}: "
    assert(e.getMessage.contains(start), e.getMessage)
  }
}
