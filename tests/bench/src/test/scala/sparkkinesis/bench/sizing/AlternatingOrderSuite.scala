package sparkkinesis.bench.sizing

import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

class AlternatingOrderSuite extends AnyFunSuite {
  test("both sides alternate in coming first, and the results keep their places") {
    val order = mutable.Buffer.empty[String]
    def note(name: String) = { order += name; name }
    val all = (0 to 2).map(AlternatingOrder.both(_)(note("raw"), note("ours")))
    assert(all.distinct === Seq("raw" -> "ours"))
    assert(order === Seq("raw", "ours", "ours", "raw", "raw", "ours"))
  }
}
