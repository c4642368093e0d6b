package sparkkinesis.client

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks._

import sparkkinesis.client.KinesisException._

class ErrorConditionSuite extends AnyFunSuite {
  private val cases = Table[KinesisException, String](
    ("failure", "condition"),
    (new NotFound("x"), "KINESIS_STREAM_NOT_FOUND"),
    (new AccessDenied("x"), "KINESIS_ACCESS_DENIED"),
    (new BadCredentials("x"), "KINESIS_BAD_CREDENTIALS"),
    (new CredentialsExpired("x"), "KINESIS_BAD_CREDENTIALS"),
    (new ClockSkewed("x"), "KINESIS_CLOCK_SKEW"),
    (new Unreachable("x"), "KINESIS_UNREACHABLE"),
    (new Throttled("x"), "KINESIS_THROTTLED"),
    (new LimitExceeded("x"), "KINESIS_LIMIT_EXCEEDED"),
    (new InUse("x"), "KINESIS_STREAM_BUSY"),
    (new TooLarge("x"), "KINESIS_REQUEST_TOO_LARGE"),
    (new InvalidArgument("x"), "KINESIS_INVALID_REQUEST"),
    (new IteratorExpired("x"), "KINESIS_SERVICE_FAILURE"),
    (new ListingExpired("x"), "KINESIS_SERVICE_FAILURE"),
    (new UnreadableEvent("x"), "KINESIS_UNREADABLE_EVENT"),
    (new ServiceFailure("x"), "KINESIS_SERVICE_FAILURE"),
    (new Other("x"), "KINESIS_FAILURE")
  )

  test("each failure of the service has a condition and a remedy") {
    forAll(cases) { (failure, condition) =>
      val diagnosis = ErrorCondition.of(failure)
      assert(diagnosis.condition === condition)
      assert(diagnosis.remedy.matches("[A-Z].*\\."))
    }
  }

  test("the message ends with exactly one full stop before the remedy") {
    val diagnosis = ErrorCondition("C", "Do this.")
    Seq("It broke", "It broke.").foreach { message =>
      assert(diagnosis.explain(message) === "It broke. Do this.")
    }
  }
}
