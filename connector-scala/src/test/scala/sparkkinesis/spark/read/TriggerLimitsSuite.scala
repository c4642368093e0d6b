package sparkkinesis.spark.read

import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import org.apache.spark.sql.connector.read.streaming.ReadLimit

import sparkkinesis.Generators.limits
import sparkkinesis.spark.errors.ConnectorError

class TriggerLimitsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  test("limits survive the way to Spark and back") {
    forAll(limits) { limits =>
      assert(TriggerLimits.of(TriggerLimits.toSpark(limits)) === limits)
    }
  }

  test(
    "the limit that Spark passes with Trigger.Once is refused, with the trigger to use instead"
  ) {
    val e = intercept[ConnectorError](TriggerLimits.of(ReadLimit.allAvailable()))
    assert(e.getCondition === "KINESIS_UNSUPPORTED_TRIGGER")
    assert(e.getMessage.contains("availableNow"))
  }
}
