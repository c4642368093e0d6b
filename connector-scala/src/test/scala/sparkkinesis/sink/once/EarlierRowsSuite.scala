package sparkkinesis.sink.once

import java.nio.charset.StandardCharsets.UTF_8

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.model.PutEntry

/** Which rows of a task are in the stream, and which are missing from the task. */
class EarlierRowsSuite extends AnyFunSuite {
  private val (a, b) = (row("a"), row("b"))

  private def row(key: String) = PutEntry(key, s"row of $key".getBytes(UTF_8), None)

  private def found(rows: PutEntry*) =
    new FoundRows(SortedHashes.of(rows.map(it => Hash128.encode(Seq(Hash128.ofRow(it))))))

  test("a task must contain every row that an earlier attempt of it wrote") {
    val earlier = new EarlierRows(found(), found(a, b, b))
    assert(earlier.contains(a) && !earlier.contains(a))
    val e = intercept[OnceException](earlier.checkEnd())
    assert(e.condition === OnceException.NotDeterministic && e.getMessage.contains("wrote 2 rows"))
  }

  test("rows that are in the stream too often are not missing from the task") {
    val earlier = new EarlierRows(found(a, a, a), found(b, b))
    assert(earlier.contains(a) && earlier.contains(b))
    earlier.checkEnd()
    assert(earlier.skipped === 3 && earlier.surplus === 3)
  }

  test("a row that earlier runs and this run wrote is needed once") {
    val earlier = new EarlierRows(found(a), found(a))
    assert(earlier.contains(a))
    earlier.checkEnd()
    assert(earlier.skipped === 1 && earlier.surplus === 1)
  }

  test("equal rows are in the stream as often as the task has them, and no further row is") {
    val earlier = new EarlierRows(found(a), found(a))
    assert(earlier.contains(a) && earlier.contains(a) && !earlier.contains(a))
    assert(earlier.skipped === 1 && earlier.surplus === 0)
  }

  test("rows of the batch that the task does not have may be in other tasks") {
    val earlier = new EarlierRows(found(a, b), found())
    assert(earlier.contains(a))
    earlier.checkEnd()
    assert(earlier.skipped === 1 && earlier.surplus === 0)
  }
}
