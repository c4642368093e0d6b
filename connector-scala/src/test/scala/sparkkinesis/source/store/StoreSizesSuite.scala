package sparkkinesis.source.store

import org.scalatest.funsuite.AnyFunSuite

class StoreSizesSuite extends AnyFunSuite {
  private val giga = 1L << 30

  test("by default a sixth of the heap, at most 1 GB; else what the option says") {
    assert(StoreSizes.of(None, 0, giga).memory === giga / 6)
    assert(StoreSizes.of(None, 0, 100 * giga).memory === giga)
    assert(StoreSizes.of(Some(3 * giga), 5, giga).memory === 3 * giga)
    assert(StoreSizes.of(Some(3 * giga), 5, giga).disk === 5)
  }

  test("a value over half of the heap is warned about by its name") {
    assert(StoreSizes.warning(None, 1) === None)
    assert(StoreSizes.warning(Some(giga / 2), giga) === None)
    val warning = StoreSizes.warning(Some(giga / 2 + 1), giga)
    assert(warning.exists(_.contains("'fetchBufferSize' is 536870913 bytes")))
  }
}
