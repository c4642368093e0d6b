package sparkkinesis.source.store

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.Generators._
import sparkkinesis.model.PackedRecords

class PageBytesSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val records: Gen[PackedRecords] =
    Gen.choose(0, 12).flatMap(Gen.listOfN(_, anyRecord)).map(all => PackedRecords(all.toVector))

  test("the bytes of a page are read as the same records, also of a part of a page") {
    forAll(records, Gen.choose(0, 12), Gen.choose(0, 12)) { (page, begin, end) =>
      assert(PageBytes.of(page).records === Some(page))
      val part = page.slice(begin, end)
      assert(PageBytes.of(part).records === Some(part))
    }
  }

  test("a page with a changed or a missing byte is not read") {
    val damage = Gen.zip(records.filter(_.nonEmpty), Gen.choose(0, 1 << 20), Gen.oneOf(true, false))
    forAll(damage) { case (page, place, isInIndex) =>
      val bytes = PageBytes.of(page)
      val (index, content) = (bytes.index.clone, bytes.content.clone)
      val changed = if (isInIndex) index else content
      changed(place % changed.length) = (changed(place % changed.length) + 1).toByte
      assert(new PageBytes(index, content).records === None)
      assert(new PageBytes(bytes.index.dropRight(1), bytes.content).records === None)
      assert(new PageBytes(bytes.index, bytes.content.dropRight(1)).records === None)
      assert(new PageBytes(bytes.index.take(place % 12), bytes.content).records === None)
    }
  }
}
