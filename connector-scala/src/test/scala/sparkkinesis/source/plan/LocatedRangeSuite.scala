package sparkkinesis.source.plan

import java.time.Instant

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.Generators._
import sparkkinesis.model.SequenceNumber
import sparkkinesis.model.offset.Progress
import sparkkinesis.shard.ShardRange
import sparkkinesis.source.fetch.PageMarks
import sparkkinesis.source.options.SourceOptions
import sparkkinesis.source.protocol.Mark
import sparkkinesis.source.store.{StoredPage, Stores}

class LocatedRangeSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val settings = SourceOptions.parse(
    Map("streamName" -> "orders", "region" -> "eu-west-1", "maxRecordsPerTrigger" -> "64"),
    None
  )

  /** The pages of a shard, and one range over all of them with its marks. */
  private val read: Gen[(Vector[StoredPage], LocatedRange[String])] = pages.map { pages =>
    val marks = pages.flatMap { page =>
      PageMarks.of(Stores.recordsOf(page), isEnd = page.upTo == Progress.Finished, settings.fetch)
    }
    val range = ShardRange(shardOf(0), pages.head.from, pages.last.upTo)
    (pages, LocatedRange(range, Some("a"), marks))
  }

  private val cuts = for {
    (pages, located) <- read
    parts <- Gen.choose(1, located.mostParts)
  } yield (pages, located, located.cut(parts), parts)

  test("the parts follow each other from the start of the range to its end, and divide its marks") {
    forAll(cuts) { case (_, whole, parts, count) =>
      assert(parts.size === count)
      assert(parts.head.range.from === whole.range.from)
      assert(parts.last.range.upTo === whole.range.upTo)
      parts.zip(parts.drop(1)).foreach { case (one, next) =>
        assert(one.range.upTo === next.range.from)
      }
      assert(parts.flatMap(_.marks) === whole.marks)
      assert(
        parts.forall(part => part.range.shard == whole.range.shard && part.place == whole.place)
      )
    }
  }

  test("each part has records, and the pages of all parts hold exactly those of the range") {
    forAll(cuts) { case (pages, whole, parts, _) =>
      val store = Stores.inMemory(Long.MaxValue)
      pages.foreach(store.add(whole.range.shard, _))
      def records(range: ShardRange) =
        Stores.records(store, range).get.map(_.sequenceNumber)
      assert(parts.flatMap(part => records(part.range)) === records(whole.range))
      if (whole.marks.exists(_.records > 0))
        assert(parts.forall(part => records(part.range).nonEmpty))
    }
  }

  private def marked(records: Long*) = {
    val marks = records.zipWithIndex.toVector.map { case (count, index) =>
      Mark(Progress.After(SequenceNumber(s"${index + 1}")), count, count * 10, 1000L * (index + 1))
    }
    val upTo = marks.lastOption.fold[Progress](Progress.Finished)(_.upTo)
    LocatedRange[String](ShardRange(shardOf(0), Progress.TrimHorizon, upTo), None, marks)
  }

  test("all parts have about the same weight") {
    def sizes(parts: Int, records: Long*) =
      marked(records: _*).cut(parts).map(_.marks.map(_.records).sum)
    assert(sizes(3, 1, 1, 1, 1, 1, 1) === Seq(2, 2, 2))
    assert(sizes(2, 100, 1, 1, 1) === Seq(100, 3))
    assert(sizes(3, 1, 1, 100) === Seq(1, 1, 100), "each gets one at least")
    assert(sizes(2, 1, 1, 1, 100) === Seq(3, 100))
  }

  test("a part is complete as of the record before it, and at least as complete as the range") {
    def complete(range: LocatedRange[String]) =
      range.cut(2).map(_.range.completeAsOf.map(_.toEpochMilli))
    val whole = marked(1, 1)
    assert(complete(whole) === Seq(None, Some(1000)))
    val known =
      whole.copy(range = whole.range.copy(completeAsOf = Some(Instant.ofEpochMilli(5000))))
    assert(complete(known) === Seq(Some(5000), Some(5000)))
  }

  test("a range without marks is not cut, and has the least weight") {
    assert(marked().mostParts === 1 && marked().weight === 1)
    assert(marked().cut(1) === Seq(marked()))
  }
}
