package sparkkinesis.sink.rate

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.model.{StreamName, StreamRef}

/** HTTP 413 and missing answers reduce the size of requests, and the size grows again. */
class RequestSizeSuite extends AnyFunSuite {
  private def newSize() = new RequestSize(StreamRef.ByName(StreamName("orders")))

  test("a refused request halves the size, once for all that were in flight") {
    val size = newSize()
    size.answered(5000000, isSoon = true)
    assert(size.most === Long.MaxValue)
    (1 to 16).foreach(_ => size.refused(5000000))
    assert(size.most === 2500000)
    size.refused(2500000)
    assert(size.most === 1250000)
    size.refused(9000000)
    assert(size.most === 1250000, "sent before")
  }

  test("the size doubles after 100 answered requests near it, until it limits nothing") {
    val size = newSize()
    size.refused(5000000)
    (1 to 200).foreach(_ => size.answered(1250000, isSoon = true))
    (1 to 99).foreach(_ => size.answered(2500000, isSoon = true))
    assert(size.most === 2500000)
    size.answered(2500000, isSoon = true)
    assert(size.most === 5000000)
    (1 to 50).foreach(_ => size.answered(5000000, isSoon = true))
    size.refused(5000000)
    (1 to 99).foreach(_ => size.answered(2500000, isSoon = true))
    assert(size.most === 2500000, "counts from the refusal")
    (1 to 1000).foreach(_ => size.answered(6000000, isSoon = true))
    assert(size.most === Long.MaxValue)
  }

  test("requests without an answer divide full requests, once per round trip, down to 1/16") {
    val size = newSize()
    (1 to 16).foreach(_ => size.unanswered(sentAt = 0, now = 10000))
    assert(size.parts === 4)
    (1 to 9).foreach(n => size.unanswered(sentAt = n * 10000L, now = (n + 1) * 10000L))
    assert(size.parts === 16 && size.most === Long.MaxValue)
  }

  test("the requests grow after 100 answers in a row that were soon enough for larger ones") {
    val size = newSize()
    size.unanswered(sentAt = 0, now = 10000)
    (1 to 1000).foreach(_ => size.answered(1000, isSoon = false))
    (1 to 99).foreach(_ => size.answered(1000, isSoon = true))
    size.answered(1000, isSoon = false)
    (1 to 99).foreach(_ => size.answered(1000, isSoon = true))
    assert(size.parts === 4)
    size.answered(1000, isSoon = true)
    assert(size.parts === 2)
    (1 to 200).foreach(_ => size.answered(1000, isSoon = true))
    assert(size.parts === 1)
  }
}
