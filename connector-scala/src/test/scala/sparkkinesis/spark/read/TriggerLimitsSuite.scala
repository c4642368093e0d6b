package sparkkinesis.spark.read

import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import org.apache.spark.sql.connector.read.streaming.ReadLimit

import sparkkinesis.Generators.limits

class TriggerLimitsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  test("limits come back as they went; none of them looks like Trigger.Once") {
    forAll(limits) { limits =>
      val told = TriggerLimits.toSpark(limits)
      assert(TriggerLimits.of(told) === limits && !TriggerLimits.isOnce(told))
    }
  }

  test("Trigger.Once has no limits") {
    val once = ReadLimit.allAvailable()
    assert(TriggerLimits.isOnce(once) && TriggerLimits.of(once).isUnlimited)
  }
}
