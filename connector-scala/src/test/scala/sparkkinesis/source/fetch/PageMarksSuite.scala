package sparkkinesis.source.fetch

import scala.concurrent.duration._

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.Generators._
import sparkkinesis.client.{Page, ShardIterator}
import sparkkinesis.model.PackedRecords
import sparkkinesis.model.offset.Progress
import sparkkinesis.shard.ReadSettings
import sparkkinesis.source.ScriptedKinesis.{end, page}
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.protocol.{Mark, ReadLimits}

class PageMarksSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private def settings(limits: ReadLimits, stopAtMillis: Option[Long] = None) =
    FetchSettings(
      ReadSettings(100, 200.millis, 1.second),
      bufferBytes = Some(1000),
      spillBytes = 0,
      limits = limits,
      stopAtMillis = stopAtMillis
    )

  private def marksOf(page: Page, settings: FetchSettings): Vector[Mark] =
    PageMarks.of(PackedRecords(page.records), isEnd = page.next.isEmpty, settings)

  private val filled: Gen[Page] = for {
    sizes <- Gen.choose(1, 60).flatMap(Gen.listOfN(_, Gen.choose(0, 50)))
    isEnd <- Gen.oneOf(true, false)
  } yield {
    val records = sizes.zipWithIndex.map { case (size, index) =>
      record(index + 1L, size).copy(arrivalMillis = 100L + (index * 37) % 50) // in no order
    }
    Page(records.toVector, if (isEnd) None else Some(ShardIterator("next")), 0, Nil)
  }

  test("the marks divide the page into parts, and each part ends at a record") {
    forAll(filled, limits) { (page, limits) =>
      val marks = marksOf(page, settings(limits))
      val ends = marks.map(_.records).scanLeft(0L)(_ + _).map(_.toInt)
      val parts = ends.zip(ends.drop(1)).map { case (begin, end) => page.records.slice(begin, end) }
      assert(parts.flatten === page.records && parts.forall(_.nonEmpty))
      assert(marks.map(_.bytes) === parts.map(_.map(_.data.length.toLong).sum))
      assert(marks.map(_.lastArrivalMillis) === parts.map(_.map(_.arrivalMillis).max))
      assert(marks.map(_.firstArrivalMillis) === parts.map(_.head.arrivalMillis))
      val upTo = parts.map(part => after(part.last))
      val isEnd = page.next.isEmpty
      assert(marks.map(_.upTo) === (if (isEnd) upTo.init :+ Progress.Finished else upTo))
    }
  }

  test("with a skew, the arrival times of a mark differ by at most the skew, in any order") {
    forAll(filled, Gen.choose(1, 60)) { (page, skew) =>
      val skewed = settings(ReadLimits.None).copy(maxShardSkew = Some(skew.millis))
      val ends = marksOf(page, skewed).map(_.records).scanLeft(0L)(_ + _).map(_.toInt)
      ends.zip(ends.drop(1)).foreach { case (begin, end) =>
        val arrivals = page.records.slice(begin, end).map(_.arrivalMillis)
        assert(arrivals.max - arrivals.min <= skew)
      }
    }
  }

  test("without limits a page has one mark, with or without a stop time") {
    Seq(None, Some(25L)).foreach { stop =>
      assert(
        marksOf(page(1 to 60), settings(ReadLimits.None, stop)).map(_.records) === Seq(60)
      )
    }
  }

  test("however small the limits are, a page has few marks, and the fetcher asks for few records") {
    val tiny =
      Seq(ReadLimits(Some(1), None), ReadLimits(None, Some(1)), ReadLimits(Some(1), Some(1)))
    tiny.foreach { limits =>
      val all = settings(limits).copy(reads = settings(limits).reads.copy(maxRecords = 10000))
      val marks = marksOf(page(1 to all.ahead.maxRecords), all)
      assert(marks.size <= 257 && marks.map(_.records).sum === all.ahead.maxRecords)
    }
    assert(
      settings(ReadLimits(Some(1000), None))
        .copy(reads = settings(ReadLimits(Some(1000), None)).reads.copy(maxRecords = 10000))
        .ahead
        .maxRecords === 7936
    )
    assert(
      settings(ReadLimits(Some(Long.MaxValue), None))
        .copy(reads = settings(ReadLimits(Some(Long.MaxValue), None)).reads.copy(maxRecords = 100))
        .ahead
        .maxRecords === 100
    )
    assert(
      settings(ReadLimits(Some(1300), None))
        .copy(reads = settings(ReadLimits(Some(1300), None)).reads.copy(maxRecords = 10000))
        .ahead
        .maxRecords === 10000
    )
  }

  test("no part exceeds its fraction of the limits, unless it is one record") {
    forAll(filled, Gen.choose(1L, 400L), Gen.choose(1L, 2000L)) { (page, records, bytes) =>
      val marks = marksOf(page, settings(ReadLimits(Some(records), Some(bytes))))
      val smallest = page.records.map(_.data.length.toLong).sum / 256
      marks.foreach { mark =>
        assert(mark.records <= math.max(1, records / 32))
        // A part ends when one more byte would be too much: its last record may exceed the limit.
        assert(mark.bytes < math.max(smallest, math.max(1, bytes / 32)) + 50)
      }
    }
  }

  test("an empty page has a mark only at the shard's end") {
    assert(marksOf(page(1 to 0), settings(ReadLimits.None)) === Vector.empty)
    val finished = Vector(Mark(Progress.Finished, 0, 0, 0))
    assert(marksOf(end(1 to 0), settings(ReadLimits.None)) === finished)
  }

  test("if a query has very many shards, a page and a shard have few marks") {
    def of(limits: ReadLimits) =
      settings(limits).copy(reads = settings(limits).reads.copy(maxRecords = 10000), shards = 10000)
    assert(of(ReadLimits.None).mostMarks === None)
    Seq(ReadLimits(Some(1000), None), ReadLimits(None, Some(100))).foreach { limits =>
      assert(of(limits).mostMarks === Some(20))
      val marks = marksOf(page(1 to of(limits).ahead.maxRecords), of(limits))
      assert(marks.size <= 21)
    }
    assert(of(ReadLimits(Some(1000), None)).ahead.maxRecords === 20 * 31)
  }

  test("small marks count as the part that they have of a mark after the driver has joined them") {
    val limited = settings(ReadLimits(Some(3200), Some(32000)))
    def joined(records: Long, bytes: Long) =
      limited.joined(Vector.fill(4)(Mark(after(record(1, 1)), records, bytes, 0)))
    assert(joined(25, 10) === 1.0 && joined(1, 500) === 2.0)
    assert(joined(100, 1) === 4.0 && joined(1, 1000000) === 4.0)
    val apart = limited.copy(maxShardSkew = Some(1.minute))
    assert(apart.joined(Vector(Mark(after(record(1, 1)), 1, 1, 0))) === 1.0)
  }
}
