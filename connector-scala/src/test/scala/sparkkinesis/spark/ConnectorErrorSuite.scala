package sparkkinesis.spark

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks._

import sparkkinesis.client.KinesisException._
import sparkkinesis.client.{KinesisException, OptionException}

class ConnectorErrorSuite extends AnyFunSuite {
  private val cases = Table[KinesisException, String](
    ("failure", "condition"),
    (new NotFound("x"), "KINESIS_STREAM_NOT_FOUND"),
    (new AccessDenied("x"), "KINESIS_ACCESS_DENIED"),
    (new BadCredentials("x"), "KINESIS_BAD_CREDENTIALS"),
    (new Unreachable("x"), "KINESIS_UNREACHABLE"),
    (new Throttled("x"), "KINESIS_THROTTLED"),
    (new LimitExceeded("x"), "KINESIS_LIMIT_EXCEEDED"),
    (new InUse("x"), "KINESIS_STREAM_BUSY"),
    (new InvalidArgument("x"), "KINESIS_INVALID_REQUEST"),
    (new IteratorExpired("x"), "KINESIS_SERVICE_FAILURE"),
    (new ListingExpired("x"), "KINESIS_SERVICE_FAILURE"),
    (new ServiceFailure("x"), "KINESIS_SERVICE_FAILURE"),
    (new Other("x"), "KINESIS_FAILURE")
  )

  private final class NotSerializable

  private final class Unsendable extends RuntimeException {
    val what = new NotSerializable
  }

  private def travelled(error: ConnectorError): ConnectorError = {
    val bytes = new ByteArrayOutputStream
    new ObjectOutputStream(bytes).writeObject(error)
    new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray))
      .readObject()
      .asInstanceOf[ConnectorError]
  }

  test("each failure of the service has a condition and a remedy") {
    forAll(cases) { (failure, condition) =>
      val error = intercept[ConnectorError](ConnectorError.translating(throw failure))
      assert(error.getCondition === condition)
      assert(error.getSqlState === "KD000")
      assert(error.getMessage.matches(s"\\[$condition\\] x\\. [A-Z].*\\."))
    }
  }

  test("an option error keeps its condition and text") {
    val failure = OptionException.missing("Which stream?")
    val error = intercept[ConnectorError](ConnectorError.translating(throw failure))
    assert(error.getMessage === "[KINESIS_MISSING_OPTION] Which stream?")
    assert(error.getMessageParameters.get("message") === "Which stream?")
  }

  test("it travels whole, whatever caused it") {
    val error = ConnectorError.of(new Unreachable("no answer", new Unsendable))
    val arrived = travelled(error)
    assert(arrived.getMessage === error.getMessage)
    assert(arrived.getCondition === "KINESIS_UNREACHABLE")
    assert(arrived.getMessageParameters === error.getMessageParameters)
    assert(arrived.getStackTrace.toSeq === error.getStackTrace.toSeq)
  }
}
