package sparkkinesis.simulator.record

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.model.Record

/** Compares packed records with a plain vector of records. */
final class RecordLogSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import RecordLogSuite._

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 200)

  test("a log has exactly the records that were appended and not trimmed") {
    forAll(histories)(history => states(history).foreach { case (log, model) => same(log, model) })
  }

  test("a log does not change when records are appended to it or to another with the same start") {
    forAll(histories, histories) { (history, other) =>
      val before = states(history)
      val branches = before.map { case (log, model) => states(other, log, model).last }
      branches.foreach { case (log, model) => same(log, model) }
      before.foreach { case (log, model) => same(log, model) }
    }
  }

  test("records are found by index, and indexes by a time even if arrival times fall") {
    forAll(histories, Gen.choose(0L, 5000L)) { (history, millis) =>
      val (log, model) = states(history).last
      assert(model.records.indices.map(log(_)) == model.records)
      val at = model.first + model.records.takeWhile(_.arrivalMillis < millis).size
      assert(log.firstArrived(millis) == at)
      assert(
        model.records.indices.map(log.first + _).map(log.sequenceNumber) ==
          model.records.map(_.sequenceNumber)
      )
    }
  }

  test("a slice has exactly its records, and can be sliced again") {
    forAll(histories, Gen.choose(-2, 30), Gen.choose(-2, 30), Gen.choose(0, 30)) {
      (history, from, until, next) =>
        val (log, model) = states(history).last
        assert(log.slice(from, until) == model.records.slice(from, until))
        assert(log.slice(from, until).drop(next) == model.records.slice(from, until).drop(next))
    }
  }

  test("a page within a number of bytes has the first records that fit") {
    forAll(histories, Gen.choose(0L, 200000L)) { (history, bytes) =>
      val (log, model) = states(history).last
      val sizes = model.records.map(r => r.data.length.toLong + keyBytes(r))
      assert(log.bytes == sizes.sum)
      assert(log.within(bytes).size == sizes.scanLeft(0L)(_ + _).tail.takeWhile(_ <= bytes).size)
    }
  }

  test("a record needs 14 bytes besides its key and data") {
    val key = "k" * 10
    val data = new Array[Byte](100)
    val full = (1 to 100000).foldLeft(empty)((log, i) => log.append(Some(key), data, i, None))
    val chunks = full.chunkBytes
    assert(chunks < 100000 * (100 + 10 + 14) * 1.02)
  }

  test("an empty shard has no chunk, and a shard with few records has a small one") {
    assert(empty.chunkBytes == 0)
    assert(empty.append(Some("k"), new Array[Byte](10), 0, None).chunkBytes <= 1024)
  }

  test("large records do not leave half of their chunks unused") {
    val data = new Array[Byte](140 * 1024)
    val log = (1 to 50).foldLeft(empty)((log, i) => log.append(Some("k"), data, i, None))
    assert(log.chunkBytes < 50 * 140 * 1024 * 1.2)
  }

  test("trimmed records free their memory") {
    val data = new Array[Byte](1000)
    val log = (1 to 10000).foldLeft(empty)((log, i) => log.append(Some("k"), data, i, None))
    assert(log.drop(9999).chunkBytes <= 256 * 1024 && log.drop(10000).chunkBytes == 0)
  }

  private def same(log: RecordLog, model: Model): Unit = {
    assert(log.first == model.first && log.size == model.records.size)
    assert(log.iterator.toVector == model.records)
    ()
  }

  private def keyBytes(record: Record): Int =
    record.partitionKey.fold(0)(_.getBytes("UTF-8").length)
}

private object RecordLogSuite {
  private val numbers = ShardNumbering(1700000000L, 0x12345)
  private val empty = RecordLog.empty(numbers)

  private final case class Model(first: Long, records: Vector[Record])

  private sealed trait Step
  private final case class Append(
      key: Option[String],
      data: Array[Byte],
      after: Int,
      encryption: Option[String]
  ) extends Step
  private final case class Trim(count: Int) extends Step

  private val keys: Gen[Option[String]] =
    Gen.option(Gen.oneOf(Gen.alphaNumStr, Gen.oneOf("", "é", "鍵" * 256, "🔑" * 256)))

  private val appends: Gen[Step] = for {
    key <- keys
    size <- Gen.frequency(6 -> Gen.choose(0, 300), 2 -> Gen.choose(0, 5000), 1 -> Gen.const(300000))
    after <- Gen.oneOf(0, 0, 1, 400, 1000, -300)
    encryption <- Gen.oneOf(None, Some("NONE"), Some("KMS"))
  } yield Append(key, Array.tabulate(size)(i => (i * 7 + after).toByte), after, encryption)

  private val histories: Gen[Vector[Step]] = Gen
    .choose(0, 30)
    .flatMap(
      Gen.containerOfN[Vector, Step](
        _,
        Gen.frequency(9 -> appends, 1 -> Gen.choose(0, 9).map(Trim(_)))
      )
    )

  /** Every state on the way, with its model. */
  private def states(
      history: Vector[Step],
      log: RecordLog = empty,
      model: Model = Model(0, Vector.empty)
  ): Vector[(RecordLog, Model)] = history.scanLeft((log, model)) {
    case ((log, model), Append(key, data, after, encryption)) =>
      val arrival = model.records.lastOption.fold(999L)(_.arrivalMillis) + after
      val number = numbers.parts(model.first + model.records.size, arrival).number
      val record = Record(number, key, data, arrival, encryption)
      val next = log.append(key, data, arrival, encryption)
      (next, model.copy(records = model.records :+ record))
    case ((log, model), Trim(count)) =>
      val dropped = math.min(count, model.records.size)
      (log.drop(count), Model(model.first + dropped, model.records.drop(count)))
  }
}
