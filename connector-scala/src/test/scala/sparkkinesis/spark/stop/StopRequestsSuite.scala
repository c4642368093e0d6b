package sparkkinesis.spark.stop

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.OtherClassLoader

class StopRequestsSuite extends AnyFunSuite {
  test("two class loaders share the requests") {
    OtherClassLoader.call("sparkkinesis.spark.stop.QueryStop", "requests") { requests =>
      assert(requests eq QueryStop.requests)
    }
  }
}
