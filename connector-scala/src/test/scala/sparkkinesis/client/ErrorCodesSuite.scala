package sparkkinesis.client

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite
import software.amazon.awssdk.awscore.internal.AwsErrorCode

/**
 * The SDK's retries are off, so our table must know what the SDK retries. The lists are internal to
 * the SDK: a new release may have more codes, and this suite names them.
 */
class ErrorCodesSuite extends AnyFunSuite {
  private def made(code: String) = ErrorCodes.exception(code).map(make => make("", null))

  test("every code that the SDK retries is retryable") {
    val codes = AwsErrorCode.RETRYABLE_ERROR_CODES.asScala.toSet
    assert(codes.filterNot(made(_).exists(_.isRetryable)) === Set.empty)
    assert(codes.filter(ErrorCodes.isPermanent) === Set.empty)
  }

  test("every code that the SDK takes for throttling is throttling, also of a single record") {
    val codes = AwsErrorCode.THROTTLING_ERROR_CODES.asScala.toSet
    assert(codes.filterNot(made(_).exists(_.isThrottling)) === Set.empty)
    assert(codes.filterNot(ErrorCodes.isThrottling) === Set.empty)
  }

  test("every code of a wrong clock leads to a retry, or is one of a wrong key, too") {
    val codes = AwsErrorCode.DEFINITE_CLOCK_SKEW_ERROR_CODES.asScala.toSet
    assert(codes.filterNot(made(_).exists(_.isInstanceOf[KinesisException.ClockSkewed])).isEmpty)
  }
}
