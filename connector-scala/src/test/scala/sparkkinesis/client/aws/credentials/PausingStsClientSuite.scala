package sparkkinesis.client.aws.credentials

import java.time.{Duration, Instant}

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite
import software.amazon.awssdk.core.exception.{AbortedException, SdkClientException}
import software.amazon.awssdk.services.sts.StsClient
import software.amazon.awssdk.services.sts.auth.StsAssumeRoleCredentialsProvider
import software.amazon.awssdk.services.sts.model.{
  AssumeRoleRequest,
  AssumeRoleResponse,
  Credentials
}

import sparkkinesis.client.{Clock, SystemClock}

class PausingStsClientSuite extends AnyFunSuite {
  private val request = AssumeRoleRequest.builder().roleArn("arn:reader").build()
  private val busy = SdkClientException.create("STS is busy.")
  private val life = 1.hour

  private class SetClock(var now: Instant) extends Clock {
    override def sleep(duration: FiniteDuration): Unit = fail()
    def pass(duration: FiniteDuration): Unit = now = now.plusMillis(duration.toMillis)
  }

  /** STS in memory. */
  private class Fixture(start: Instant = Instant.EPOCH) {
    val clock = new SetClock(start)
    var requests = 0
    var failure: Option[RuntimeException] = None

    val sts: StsClient = new StsClient {
      override def serviceName(): String = "sts"
      override def close(): Unit = ()
      override def assumeRole(request: AssumeRoleRequest): AssumeRoleResponse = {
        requests += 1
        failure.foreach(throw _)
        val credentials = Credentials
          .builder()
          .accessKeyId(s"KEY$requests")
          .secretAccessKey("hush")
          .sessionToken("token")
          .expiration(clock.now.plusMillis(life.toMillis))
        AssumeRoleResponse.builder().credentials(credentials.build()).build()
      }
    }
    val client = new PausingStsClient(sts, 10.seconds, clock)

    def fails(): Unit = {
      val e = intercept[RuntimeException](client.assumeRole(request))
      assert(failure.contains(e))
    }
  }

  test("without credentials, callers share a failure for a tenth of a second") {
    val fixture = new Fixture
    fixture.failure = Some(busy)
    (1 to 10).foreach(_ => fixture.fails())
    assert(fixture.requests === 1)
    fixture.clock.pass(100.millis)
    fixture.fails()
    assert(fixture.requests === 2)
    fixture.failure = None
    fixture.clock.pass(100.millis)
    assert(fixture.client.assumeRole(request).credentials.accessKeyId === "KEY3")
  }

  test(
    "with valid credentials, pauses grow to half a minute, and end when the credentials expire"
  ) {
    val fixture = new Fixture
    fixture.client.assumeRole(request)
    fixture.failure = Some(busy)
    fixture.clock.pass(life - 5.minutes)
    while (fixture.clock.now.toEpochMilli < (life - 11.seconds).toMillis) {
      fixture.fails()
      fixture.clock.pass(50.millis)
    }
    assert(fixture.requests > 5 && fixture.requests < 150)
    fixture.failure = None
    fixture.clock.pass(1.second)
    assert(fixture.client.assumeRole(request).credentials.accessKeyId.startsWith("KEY"))
  }

  test("an interrupted request does not count as a failure of STS") {
    val fixture = new Fixture
    fixture.failure = Some(AbortedException.create("interrupted"))
    fixture.fails()
    fixture.failure = None
    fixture.client.assumeRole(request)
    assert(fixture.requests === 2)
  }

  /** Requests to STS for a number of calls, when renewal is due and STS fails. */
  private def requestsWhileFailing(client: Fixture => StsClient, calls: Int): Int = {
    val fixture = new Fixture(SystemClock.now)
    val provider = StsAssumeRoleCredentialsProvider
      .builder()
      .stsClient(client(fixture))
      .refreshRequest(request)
      .prefetchTime(
        Duration.ofHours(2)
      ) // due now, whatever the SDK's jitter of up to a minute before
      .staleTime(Duration.ofSeconds(life.toSeconds - 50)) // the end of their use
      .build()
    provider.resolveCredentials()
    fixture.failure = Some(busy)
    (1 to calls).foreach(_ => assert(provider.resolveCredentials().accessKeyId === "KEY1"))
    fixture.requests - 1
  }

  test("while STS fails, the SDK's provider sends a request per call; with pauses, only one") {
    assert(requestsWhileFailing(_.sts, calls = 1000) === 1000, "if not, the class can go")
    assert(requestsWhileFailing(_.client, calls = 1000) === 1)
  }
}
