package sparkkinesis.sink.rate

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.model.{StreamName, StreamRef}

/** HTTP 413 and missing answers reduce the size of requests, and the size grows again. */
class RequestSizeSuite extends AnyFunSuite {
  private def newSize() = new RequestSize(StreamRef.ByName(StreamName("orders")))

  test("a refused request halves the size, once for all that were in flight") {
    val size = newSize()
    size.answered(fullness = 1, isSoon = true)
    assert(size.parts === 1)
    (1 to 16).foreach(_ => size.refused(5000000, fullness = 1))
    assert(size.parts === 2)
    size.refused(2500000, fullness = 0.5)
    assert(size.parts === 4)
    size.refused(5000000, fullness = 1)
    assert(size.parts === 4, "sent before")
  }

  test("a small request that is refused leads to requests of half its size at once") {
    val size = newSize()
    size.refused(100000, fullness = 0.02)
    assert(size.parts === 100)
  }

  test("requests without an answer divide full requests, once per round trip, down to 1/16") {
    val size = newSize()
    (1 to 16).foreach(_ => size.unanswered(sentAt = 0, now = 10000))
    assert(size.parts === 4)
    (1 to 9).foreach(n => size.unanswered(sentAt = n * 10000L, now = (n + 1) * 10000L))
    assert(size.parts === 16)
  }

  test("small requests say nothing about larger ones") {
    val size = newSize()
    size.refused(2500000, fullness = 0.5)
    assert(size.parts === 4)
    (1 to 1000).foreach(_ => size.answered(fullness = 0.1, isSoon = true))
    assert(size.parts === 4)
    (1 to 100).foreach(_ => size.answered(fullness = 0.2, isSoon = true))
    assert(size.parts === 2)
  }

  test("the requests grow after 100 answers in a row that were soon enough for larger ones") {
    val size = newSize()
    size.unanswered(sentAt = 0, now = 10000)
    (1 to 1000).foreach(_ => size.answered(fullness = 1, isSoon = false))
    (1 to 99).foreach(_ => size.answered(fullness = 1, isSoon = true))
    size.answered(fullness = 1, isSoon = false)
    (1 to 99).foreach(_ => size.answered(fullness = 1, isSoon = true))
    assert(size.parts === 4)
    size.answered(fullness = 1, isSoon = true)
    assert(size.parts === 2)
    (1 to 50).foreach(_ => size.answered(fullness = 1, isSoon = true))
    size.refused(1250000, fullness = 0.25)
    (1 to 99).foreach(_ => size.answered(fullness = 1, isSoon = true))
    assert(size.parts === 8, "counts from the refusal")
    (1 to 300).foreach(_ => size.answered(fullness = 1, isSoon = true))
    assert(size.parts === 1)
  }
}
