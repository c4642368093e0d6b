package sparkkinesis.client.aws

import java.time.format.DateTimeFormatter
import java.time.format.DateTimeFormatter.RFC_1123_DATE_TIME
import java.time.{Duration, Instant, LocalDateTime, ZoneOffset}

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators.stream
import sparkkinesis.client.aws.wire.{RequestBodyOverride, ResponseDecoder}
import sparkkinesis.client.{KinesisException, ShardIterator, SystemClock}

/** A machine whose clock is wrong: the SDK corrects the time of the next signature. */
class AwsClockSkewSuite extends AnyFunSuite {

  private class Machine {
    val http = new CannedHttp
    private val sdk = http.client(ResponseDecoder, RequestBodyOverride)
    val client = new AwsKinesisClient(sdk, "test", () => ())

    /** How far the time of the last request is from the time of this machine. */
    def shift: Duration = {
      val text = http.headers.firstMatchingHeader("X-Amz-Date").get
      val signed =
        LocalDateTime.parse(text, DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'"))
      Duration.between(SystemClock.now, signed.toInstant(ZoneOffset.UTC))
    }

    def refused(code: String, serviceTime: Instant): KinesisException = {
      http.status = 403
      http.answerHeaders = Map(
        "x-amzn-ErrorType" -> code,
        "Date" -> RFC_1123_DATE_TIME.format(serviceTime.atOffset(ZoneOffset.UTC))
      )
      intercept[KinesisException](client.getRecords(stream, ShardIterator("i"), 1))
    }
  }

  Seq("RequestTimeTooSkewed", "RequestExpired", "InvalidSignatureException").foreach { code =>
    test(s"$code: the refusal can be retried, and the next call has the service's time") {
      val machine = new Machine
      import machine._
      val failure = refused(code, SystemClock.now.plusSeconds(7200))
      assert(failure.isInstanceOf[KinesisException.ClockSkewed] && failure.isRetryable, failure)
      http.status = 200
      http.answerHeaders = Map.empty
      client.getRecords(stream, ShardIterator("i"), 1)
      assert(shift.toMinutes >= 110 && shift.toMinutes <= 130)
    }
  }

  test("a wrong signature at the right time is not a matter of the clock") {
    val failure = new Machine().refused("InvalidSignatureException", SystemClock.now)
    assert(failure.isInstanceOf[KinesisException.BadCredentials] && !failure.isRetryable)
  }
}
