package sparkkinesis.sink.once

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.model.PutEntry

/** Whether two runs of a write have the same rows. */
class RowTotalSuite extends AnyFunSuite {
  private def total(rows: (String, String)*) = rows
    .map { case (key, data) => RowTotal.of(PutEntry(key, data.getBytes("UTF-8"), None)) }
    .foldLeft(RowTotal.Zero)(_ + _)

  test("the order of the rows does not count") {
    assert(total("a" -> "1", "b" -> "2") === total("b" -> "2", "a" -> "1"))
    assert(total("a" -> "1", "b" -> "2").rows === 2)
  }

  test("other keys, other data, and another number of equal rows are other rows") {
    val rows = Seq("a" -> "1", "b" -> "2")
    Seq(
      Seq("a" -> "2", "b" -> "1"),
      Seq("a" -> "1", "c" -> "2"),
      Seq("a" -> "1", "b" -> "3"),
      Seq("a" -> "1", "a" -> "1")
    ).foreach(other => assert(total(other: _*) !== total(rows: _*)))
    assert(total("a" -> "1", "a" -> "1").sum !== 0)
  }

  test("the files of older versions stay comparable") {
    assert(total("key" -> "data") === RowTotal(1, -1591501294))
  }
}
