package sparkkinesis.spark.read

import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import org.apache.spark.sql.connector.read.streaming.ReadLimit

import sparkkinesis.Generators.limits
import sparkkinesis.spark.errors.ConnectorError

class TriggerLimitsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  test("limits that Spark receives are returned unchanged") {
    forAll(limits) { limits =>
      assert(TriggerLimits.of(TriggerLimits.toSpark(limits)) === limits)
    }
  }

  test(
    "the limit of Trigger.Once is refused, and the error names the trigger to use instead"
  ) {
    val e = intercept[ConnectorError](TriggerLimits.of(ReadLimit.allAvailable()))
    assert(e.getCondition === "KINESIS_UNSUPPORTED_TRIGGER")
    assert(e.getMessage.contains("availableNow"))
  }
}
