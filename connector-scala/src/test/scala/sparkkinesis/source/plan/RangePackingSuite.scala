package sparkkinesis.source.plan

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.Generators.shardOf
import sparkkinesis.model.SequenceNumber
import sparkkinesis.model.offset.Progress
import sparkkinesis.shard.ShardRange
import sparkkinesis.source.protocol.Mark

class RangePackingSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private type Located = LocatedRange[String]

  private def rangeOf(shard: Int, place: Option[String], records: Seq[Long]): Located = {
    val marks = records.toVector.zipWithIndex.map { case (count, index) =>
      Mark(Progress.After(SequenceNumber(s"${index + 1}")), count, count * 100, 1)
    }
    val upTo = marks.lastOption.fold[Progress](Progress.Finished)(_.upTo)
    LocatedRange(ShardRange(shardOf(shard), Progress.TrimHorizon, upTo), place, marks)
  }

  private val located: Gen[Vector[Located]] = for {
    count <- Gen.choose(0, 20)
    places <- Gen.listOfN(count, Gen.option(Gen.oneOf("a", "b", "c", "d")))
    records <- Gen.listOfN(count, Gen.choose(0, 6).flatMap(Gen.listOfN(_, Gen.choose(1L, 99L))))
  } yield places.zip(records).zipWithIndex.toVector.map { case ((place, records), shard) =>
    rangeOf(shard, place, records)
  }

  private val sizes = Gen.zip(Gen.choose(1, 8), Gen.choose(1, 30))

  test("every range is in exactly one task, whole or cut into parts that follow each other") {
    forAll(located, sizes) { case (located, (most, wanted)) =>
      val packed = RangePacking.pack(located, most, wanted).flatMap(_._2).groupBy(_.shard)
      assert(packed.keySet === located.map(_.range.shard).toSet)
      located.foreach { whole =>
        val parts =
          packed(whole.range.shard).sortBy(part => whole.marks.indexWhere(_.upTo == part.upTo))
        assert(parts.head.from === whole.range.from && parts.last.upTo === whole.range.upTo)
        parts.zip(parts.drop(1)).foreach { case (one, next) => assert(one.upTo === next.from) }
      }
    }
  }

  test("a task reads the parts of a shard in order") {
    forAll(located, sizes) { case (located, (most, wanted)) =>
      val tasks = RangePacking.pack(located, most, wanted).map(_._2)
      val order = located.flatMap(whole => whole.marks.map(whole.range.shard -> _.upTo))
      tasks.foreach { task =>
        val places = task.map(range => order.indexOf(range.shard -> range.upTo)).filter(_ >= 0)
        assert(places === places.sorted)
      }
    }
  }

  test("tasks are at most the slots, or as many as minPartitions if there are enough marks") {
    forAll(located, sizes) { case (located, (most, wanted)) =>
      val tasks = RangePacking.pack(located, most, wanted)
      val units = located.map(_.mostParts).sum
      assert(tasks.size <= math.max(most, wanted))
      assert(tasks.size >= math.min(wanted, units))
      assert(tasks.forall(_._2.nonEmpty))
    }
  }

  test("without minPartitions no range is cut") {
    forAll(located, Gen.choose(1, 8)) { (located, most) =>
      val packed = RangePacking.pack(located, most).flatMap(_._2)
      assert(packed.sortBy(_.shard) === located.map(_.range))
    }
  }

  test("ranges of unknown sizes are divided evenly, also equal ones, in order") {
    forAll(Gen.listOf(Gen.choose(1, 3)), Gen.choose(1, 8)) { (ranges, most) =>
      val tasks = RangePacking.evenly(ranges.zipWithIndex.toVector, most)
      assert(tasks.flatten.sortBy(_._2) === ranges.zipWithIndex)
      assert(tasks.forall(task => task.map(_._2) === task.map(_._2).sorted))
      assert(tasks.size === math.min(ranges.size, most))
      if (tasks.nonEmpty) assert(tasks.map(_.size).max - tasks.map(_.size).min <= 1)
    }
  }

  test("a task prefers the executor of its ranges, unless there are more executors than tasks") {
    forAll(located, Gen.choose(5, 8)) { (located, most) =>
      val placeOf = located.map(one => one.range.shard -> one.place).toMap
      for ((place, ranges) <- RangePacking.pack(located, most); range <- ranges)
        assert(placeOf(range.shard) === place)
    }
    val apart = Vector("a", "b", "c").zipWithIndex.map { case (place, shard) =>
      rangeOf(shard, Some(place), Seq(if (place == "b") 99L else 1L))
    }
    val packed = RangePacking.pack(apart, 2)
    assert(
      packed.map { case (place, ranges) => place -> ranges.size }.toSet ===
        Set(Some("b") -> 1, Some("a") -> 2)
    )
  }

  test("packing the same ranges again gives the same tasks") {
    forAll(located, sizes) { case (located, (most, wanted)) =>
      assert(RangePacking.pack(located, most, wanted) === RangePacking.pack(located, most, wanted))
    }
  }

  private def packedRecords(maxTasks: Int, minTasks: Int, records: Seq[Long]*): Seq[Long] = {
    val located = records.toVector.zipWithIndex.map { case (records, shard) =>
      rangeOf(shard, Some("a"), records)
    }
    val known = located.map(one => one.range.shard -> one.marks.map(_.records).sum).toMap
    RangePacking
      .pack(located, maxTasks, minTasks)
      .map(_._2.map(r => known(r.shard)).sum)
  }

  test("the heaviest range is packed first, each into the task with the least weight") {
    assert(packedRecords(2, 1, Seq(5), Seq(5), Seq(90), Seq(5), Seq(5)).sorted === Seq(20, 90))
    assert(packedRecords(4, 1, Seq.fill(10)(Seq(1L)): _*).sorted === Seq(2, 2, 3, 3))
    val afterRestart = packedRecords(2, 1, Seq.fill(500)(Seq.empty[Long]): _*)
    assert(afterRestart.size === 2, "500 shards on two cores")
  }

  test("large ranges are cut first and evenly") {
    val large = rangeOf(0, Some("a"), Seq.fill(12)(10L))
    val small = rangeOf(1, Some("a"), Seq.fill(12)(1L))
    val tasks = RangePacking.pack(Vector(large, small), 1, 4).map(_._2)
    assert(tasks.size === 4)
    assert(tasks.flatten.count(_.shard == shardOf(0)) === 3)
    assert(tasks.flatten.count(_.shard == shardOf(1)) === 1)
  }
}
