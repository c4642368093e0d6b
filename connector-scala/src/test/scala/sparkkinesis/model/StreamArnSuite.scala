package sparkkinesis.model

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks._

class StreamArnSuite extends AnyFunSuite {
  private val good = Table(
    ("text", "arn"),
    (
      "arn:aws:kinesis:eu-west-1:123456789012:stream/orders",
      StreamArn("aws", "eu-west-1", "123456789012", StreamName("orders"))
    ),
    (
      "arn:aws-cn:kinesis:cn-north-1:000000000000:stream/a.B_c-9",
      StreamArn("aws-cn", "cn-north-1", "000000000000", StreamName("a.B_c-9"))
    )
  )

  test("an ARN is parsed, and printed as it was written") {
    forAll(good) { (text, arn) =>
      assert(StreamArn.parse(text) === Some(arn))
      assert(arn.toString === text)
      assert(StreamRef.ByArn(arn).name === arn.name && StreamRef.ByArn(arn).toString === text)
    }
  }

  private val bad = Table(
    "text",
    "",
    "orders",
    "arn:aws:s3:::bucket",
    "arn:aws:kinesis:eu-west-1:12345:stream/orders",
    "arn:aws:kinesis:eu-west-1:123456789012:stream/",
    "arn:aws:kinesis:eu-west-1:123456789012:stream/a b",
    "arn:aws:kinesis:eu-west-1:123456789012:stream/orders/consumer/c:1",
    "arn:aws:kinesis:eu-west-1:123456789012:stream/orders\n",
    " arn:aws:kinesis:eu-west-1:123456789012:stream/orders",
    "arn:aws:kinesis:eu-west-1:123456789012:stream/" + "a" * 129
  )

  test("a text that is not a stream's ARN is refused") {
    forAll(bad)(text => assert(StreamArn.parse(text) === None))
  }

  test("a stream name has 1 to 128 of the allowed characters") {
    forAll(Table("name", "a", "a.B_c-9", "a" * 128)) { name =>
      assert(StreamName.parse(name) === Some(StreamName(name)))
    }
    forAll(Table("name", "", " ", "a,b", "ж", "a\n", "a" * 129)) { name =>
      assert(StreamName.parse(name) === None)
    }
  }
}
