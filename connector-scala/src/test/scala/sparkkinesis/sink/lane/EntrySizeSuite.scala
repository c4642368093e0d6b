package sparkkinesis.sink.lane

import java.nio.charset.StandardCharsets.UTF_8

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class EntrySizeSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  test("the computed length equals the length of the UTF-8 encoding") {
    val texts = Gen.stringOf(
      Gen.frequency(
        3 -> Gen.choose(Char.MinValue, Char.MaxValue),
        1 -> Gen.oneOf('\ud83d', '\udd11', 'a', 'é')
      )
    )
    forAll(texts) { text =>
      assert(EntrySize.utf8Length(text) === text.getBytes(UTF_8).length)
    }
  }
}
