package sparkkinesis.client.aws

import java.io.IOException
import java.net.{ConnectException, SocketTimeoutException, UnknownHostException}
import javax.crypto.AEADBadTagException
import javax.net.ssl.{SSLException, SSLHandshakeException}

import org.apache.hc.client5.http.ConnectTimeoutException
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks._
import software.amazon.awssdk.auth.credentials.AwsCredentialsProviderChain
import software.amazon.awssdk.awscore.exception.{AwsErrorDetails, AwsServiceException}
import software.amazon.awssdk.core.exception._
import software.amazon.awssdk.services.kinesis.model.{KinesisException => SdkKinesisException}
import software.amazon.awssdk.services.sts.model.StsException

import sparkkinesis.client.KinesisException
import sparkkinesis.client.KinesisException._
import sparkkinesis.client.aws.credentials.ClientCredentials

class AwsErrorsSuite extends AnyFunSuite {
  private val target = "region eu-west-1"

  private def service(code: String, status: Int = 400, message: String = "words"): SdkException =
    SdkKinesisException.builder().awsErrorDetails(details(code, message)).statusCode(status).build()

  private def signature(message: String) = service("InvalidSignatureException", 403, message)

  private def sts(code: String, status: Int): SdkException =
    StsException.builder().awsErrorDetails(details(code, "words")).statusCode(status).build()

  private def details(code: String, message: String) =
    AwsErrorDetails.builder().errorCode(code).errorMessage(message).serviceName("K").build()

  private def client(cause: Throwable): SdkException =
    SdkClientException.builder().message("Unable to execute HTTP request").cause(cause).build()

  private def noCredentials(reason: Throwable) = new ClientCredentials.Unavailable(reason)

  /** The chain collects the messages of its providers, and gives no cause. */
  private def chain(): Throwable = {
    val chain = AwsCredentialsProviderChain.of(() => throw client(new ConnectException("refused")))
    val thrown = intercept[SdkClientException](chain.resolveCredentials())
    new ClientCredentials.Unavailable(thrown, isOfChain = true)
  }

  private val cases = Table[Throwable, Class[_ <: KinesisException], Boolean](
    ("thrown", "becomes", "is retryable"),
    (service("ProvisionedThroughputExceededException"), classOf[Throttled], true),
    (service("KMSThrottlingException"), classOf[Throttled], true),
    (service("ThrottlingException"), classOf[Throttled], true),
    (service("Whatever", status = 429), classOf[Throttled], true),
    (service("LimitExceededException"), classOf[LimitExceeded], true),
    (service("ExpiredIteratorException"), classOf[IteratorExpired], false),
    (service("ExpiredNextTokenException"), classOf[ListingExpired], true),
    (service("ResourceNotFoundException"), classOf[NotFound], false),
    (service("ResourceInUseException"), classOf[InUse], true),
    (service("InvalidArgumentException"), classOf[InvalidArgument], false),
    (service("ValidationException"), classOf[InvalidArgument], false),
    (service("AccessDeniedException"), classOf[AccessDenied], false),
    (service("KMSAccessDeniedException"), classOf[AccessDenied], false),
    (service("KMSDisabledException"), classOf[AccessDenied], false),
    (service("KMSInvalidStateException"), classOf[AccessDenied], false),
    (service("KMSNotFoundException"), classOf[AccessDenied], false),
    (service("KMSOptInRequired"), classOf[AccessDenied], false),
    (service("Unknown", status = 403), classOf[AccessDenied], false),
    (service("Unknown", status = 413), classOf[TooLarge], false),
    (service("Unknown", status = 407), classOf[Unreachable], true),
    (service("Unknown", status = 408), classOf[Unreachable], true),
    (service("RequestTimeout"), classOf[Unreachable], true),
    (service("RequestTimeoutException"), classOf[Unreachable], true),
    (service("UnrecognizedClientException"), classOf[BadCredentials], false),
    (service("ExpiredTokenException"), classOf[CredentialsExpired], true),
    (service("InvalidSignatureException"), classOf[BadCredentials], false),
    (service("RequestTimeTooSkewed", status = 403), classOf[ClockSkewed], true),
    (
      signature("Signature expired: 20260101T000000Z is now earlier than …"),
      classOf[ClockSkewed],
      true
    ),
    (signature("Signature not yet current: 20260101T000000Z …"), classOf[ClockSkewed], true),
    (service("InternalFailureException", status = 500), classOf[ServiceFailure], true),
    (service("InternalFailure", status = 400), classOf[ServiceFailure], true),
    (service("Never heard of", status = 503), classOf[ServiceFailure], true),
    (service("Never heard of"), classOf[Other], false),
    (client(new UnknownHostException("nowhere")), classOf[Unreachable], true),
    (client(new ConnectException("refused")), classOf[Unreachable], true),
    (client(new SocketTimeoutException("read")), classOf[Unreachable], true),
    (client(new RuntimeException(new IOException("half an answer"))), classOf[Unreachable], true),
    (ApiCallTimeoutException.create(5), classOf[Unreachable], true),
    (ApiCallAttemptTimeoutException.create(5), classOf[Unreachable], true),
    (client(new IllegalStateException("odd")), classOf[Other], false),
    (new IllegalArgumentException("odd"), classOf[Other], false),
    (noCredentials(client(new RuntimeException)), classOf[BadCredentials], false),
    (chain(), classOf[BadCredentials], true),
    (noCredentials(sts("AccessDenied", 403)), classOf[BadCredentials], false),
    (noCredentials(sts("Throttling", 400)), classOf[Throttled], true),
    (noCredentials(client(new ConnectException("refused"))), classOf[Unreachable], true)
  )

  test("every failure of the SDK becomes the matching KinesisException") {
    forAll(cases) { (thrown, expected, retryable) =>
      val result = AwsErrors.translate(thrown, "PutRecords of stream orders", target)
      assert(result.getClass === expected)
      assert(result.isRetryable === retryable)
      assert(
        result.getMessage.startsWith("PutRecords of stream orders (region eu-west-1) failed: ")
      )
    }
  }

  test("a call has not arrived if there was no connection for it") {
    def mayHaveArrived(e: Throwable) = AwsErrors.translate(e, "X", target) match {
      case lost: Unreachable => lost.mayHaveArrived
      case other => fail(s"$other")
    }
    val before = Seq(
      new UnknownHostException("nowhere"),
      new ConnectException("refused"),
      new SSLHandshakeException("not trusted"),
      new ConnectTimeoutException("too slow")
    )
    before.foreach(it => assert(!mayHaveArrived(client(it)), s"$it"))
    assert(!mayHaveArrived(noCredentials(client(new SocketTimeoutException("STS")))))
    Seq(
      client(new SocketTimeoutException("read")),
      client(new IOException("half an answer")),
      service("RequestTimeout"),
      ApiCallTimeoutException.create(5)
    ).foreach(it => assert(mayHaveArrived(it), s"$it"))
  }

  test("a message contains the service's message, code and status") {
    val result = AwsErrors.translate(service("ResourceNotFoundException"), "X", target)
    assert(result.getMessage.endsWith("words (ResourceNotFoundException, status 400)"))
  }

  test("a message of the service makes no line of its own in a log") {
    val e = AwsErrors.translate(service("AccessDenied", message = "no\nERROR x"), "Put", target)
    assert(e.getMessage.contains("no\\u000aERROR x (AccessDenied, status 400)"))
  }

  test("the message does not contain the signed request, which holds the session token") {
    val said = "The signature does not match.\n\nThe Canonical String:\nx-amz-security-token:SECRET"
    val result = AwsErrors.translate(service("InvalidSignatureException", 403, said), "X", target)
    assert(result.getMessage.contains("The signature does not match."))
    assert(!trace(result).contains("SECRET"))
  }

  test("an interrupted call ends with InterruptedException, and the interrupt flag is cleared") {
    Thread.currentThread().interrupt()
    assertThrows[InterruptedException] {
      AwsErrors.translating("X", target)(throw AbortedException.create("interrupted"))
    }
    assert(!Thread.interrupted())
  }

  test("our own failures pass unchanged") {
    val known = new NotFound("gone")
    assert(intercept[NotFound](AwsErrors.translating("X", target)(throw known)) eq known)
  }

  private def trace(e: Throwable): String = {
    val text = new java.io.StringWriter
    e.printStackTrace(new java.io.PrintWriter(text))
    text.toString
  }

  test("an exception without details is described by what it contains") {
    val bare = AwsServiceException.builder().message("bare").statusCode(500).build()
    assert(AwsErrors.translate(bare, "X", target).getMessage.contains("bare"))
  }

  test("an error names TLS, and says once what Java says") {
    def text(e: Throwable) = AwsErrors.translate(e, "GetRecords", "here").getMessage
    val tls = client(new SSLException("Tag mismatch!", new AEADBadTagException("Tag mismatch!")))
    assert(text(tls).endsWith("failed: TLS failed: Unable to execute HTTP request - Tag mismatch!"))
    val reset = SdkClientException.create("No answer: reset", new IOException("reset"))
    assert(text(reset).endsWith("failed: No answer: reset"))
  }
}
