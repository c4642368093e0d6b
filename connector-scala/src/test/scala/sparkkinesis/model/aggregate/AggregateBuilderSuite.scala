package sparkkinesis.model.aggregate

import java.nio.charset.StandardCharsets.UTF_8

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.KplAggregates
import sparkkinesis.KplAggregates._
import sparkkinesis.model.{HashKey, PutEntry}

class AggregateBuilderSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val MaxRecordBytes = 10 << 20

  private def builder = new AggregateBuilder(MaxRecordBytes)

  private def entry(key: String, data: Int*) = PutEntry(key, data.map(_.toByte).toArray, None)

  private def entries(records: Seq[SubRecord]): Seq[PutEntry] = records.map { it =>
    PutEntry(it.partitionKey, it.data.toArray, it.explicitHashKey.flatMap(HashKey.parse))
  }

  private def subRecord(entry: PutEntry) =
    SubRecord(entry.partitionKey, entry.data.toVector, entry.explicitHashKey.map(_.toString))

  private def built(builder: AggregateBuilder, entries: Seq[PutEntry]): PutEntry = {
    entries.foreach(builder.add)
    builder.result()
  }

  private def message(aggregate: PutEntry) = aggregate.data.drop(4).dropRight(16)

  private def sizeOf(entry: PutEntry) =
    entry.data.length + entry.partitionKey.getBytes(UTF_8).length

  private val many = subRecords.filter(_.size > 1)

  test("our reader, Google's reader and an independent producer agree on an aggregate") {
    val reused = builder
    forAll(many) { records =>
      val made = built(reused, entries(records))
      assert(SubRecords.read(made.data) === records)
      assert(ProtobufOracle.read(message(made)) === records)
      assert(made.data.toSeq === KplAggregates(records).toSeq)
      assert(UserRecords.of(made).map(subRecord) === records)
    }
  }

  test("an aggregate has the hash key of its first record") {
    forAll(many.map(entries)) { all =>
      val made = built(builder, all)
      assert(made.partitionKey === "a")
      val first = all.head
      assert(
        made.explicitHashKey.get === first.explicitHashKey.getOrElse(HashKey.of(first.partitionKey))
      )
    }
  }

  test("with a shared hash key, each record has that of the aggregate, and sizes are exact") {
    def sharing = new AggregateBuilder(MaxRecordBytes, sharesHashKey = true)
    val reused = sharing
    forAll(subRecords.map(entries)) { all =>
      all.zipWithIndex.foreach { case (one, index) =>
        val expected = reused.sizeWith(one)
        reused.add(one)
        assert(reused.size === expected)
        assert(expected === sizeOf(built(sharing, all.take(index + 1))))
      }
      val made = reused.result()
      if (all.size == 1) assert(made eq all.head)
      else {
        assert(made.explicitHashKey.get === all.head.hashKey)
        val placed = all.map(_.copy(explicitHashKey = made.explicitHashKey))
        assert(UserRecords.of(made).map(subRecord) === placed.map(subRecord))
        assert(ProtobufOracle.read(message(made)) === placed.map(subRecord))
      }
    }
  }

  test("a single record is returned unchanged") {
    forAll(KplAggregates.subRecord.map(record => entries(Seq(record)).head)) { only =>
      val made = built(builder, Seq(only))
      assert(made eq only)
      assert(UserRecords.of(made) === Vector(only))
    }
  }

  test("size and sizeWith equal the size of the record that result returns") {
    val reused = builder
    forAll(subRecords.map(entries)) { all =>
      assert(reused.size === 0)
      all.zipWithIndex.foreach { case (one, index) =>
        val expected = reused.sizeWith(one)
        assert(reused.sizeWith(entry("another", 1, 2, 3)) > reused.size) // asking changes nothing
        reused.add(one)
        assert(reused.size === expected)
        assert(reused.count === index + 1)
        assert(expected === sizeOf(built(builder, all.take(index + 1))))
      }
      reused.result()
    }
  }

  test("the predicted size is exact for any length of data, key and table") {
    val lengths = Seq(
      0,
      1,
      110,
      120,
      127,
      128,
      129,
      16370,
      16383,
      16384,
      16385,
      (2 << 20) - 9,
      2 << 20,
      (2 << 20) + 1
    )
    for (length <- lengths; keyLength <- Seq(1, 127, 128, 129, 256); count <- 1 to 2) {
      val filler = Vector.fill(count)(entry("first", 1))
      val last = PutEntry("k" * keyLength, new Array[Byte](length), Some(HashKey(length)))
      val made = exact(filler :+ last)
      assert(UserRecords.of(made).last.data.length === length)
    }
  }

  private def exact(all: Seq[PutEntry]): PutEntry = {
    val measured = builder
    all.foreach(measured.add)
    val size = measured.size
    val made = measured.result()
    assert(size === sizeOf(made))
    val read = UserRecords.of(made)
    assert(read.size === all.size)
    read.zip(all).foreach { case (one, other) =>
      assert(one.partitionKey === other.partitionKey)
      assert(one.explicitHashKey === other.explicitHashKey)
      assert(java.util.Arrays.equals(one.data, other.data))
    }
    made
  }

  test("the predicted size is exact for data of 10 MiB and near every varint boundary") {
    val large = new Array[Byte](MaxRecordBytes)
    large(large.length - 1) = 7
    val alone = PutEntry("k", large, None)
    assert(built(builder, Seq(alone)) eq alone) // not copied
    exact(Seq(alone, entry("k")))
    exact(Seq(entry("k"), alone))
    (0 to 300).foreach(length => exact(Seq(entry(""), PutEntry("k", new Array(length), None))))
  }

  test("a table of 1 to 100,000 keys has each text once") {
    for (keys <- Seq(1, 127, 128, 129, 16383, 16384, 16385, 100000)) {
      val all = (0 until keys + 300).map { i =>
        PutEntry(s"key ${i % keys}", Array.emptyByteArray, Some(HashKey(i % keys)))
      }
      assert(texts(exact(all)) === Seq(1 -> keys, 2 -> keys))
    }
  }

  /** The number of texts in each table of an aggregate. */
  private def texts(aggregate: PutEntry): Seq[(Int, Int)] = {
    val fields = new ProtobufReader
    fields.open(aggregate.data, 4, aggregate.data.length - 16)
    val tags = Iterator.continually(()).takeWhile(_ => fields.next()).map { _ =>
      fields.skip()
      fields.tag >> 3
    }
    tags.toVector
      .filter(_ < 3)
      .groupBy(identity)
      .map { case (tag, all) => tag -> all.size }
      .toSeq
      .sorted
  }

  test("equal keys share one table entry, even if they are different objects") {
    val all = Seq.fill(3)(PutEntry(new String("k"), Array(1), Some(HashKey(BigInt(2).pow(100)))))
    assert(texts(built(builder, all)) === Seq(1 -> 1, 2 -> 1))
  }

  test("an aggregate has nothing of the previous aggregate of the same builder") {
    forAll(many, many) { (before, after) =>
      val reused = builder
      built(reused, entries(before))
      assert((reused.count, reused.size) === ((0, 0L)))
      assertThrows[NoSuchElementException](reused.result())
      assert(built(reused, entries(after)).data.toSeq === KplAggregates(after).toSeq)
    }
    val reused = builder // beyond what a builder keeps
    (0 to 1000).foreach(i => reused.add(entry(s"key $i", Seq.fill(20)(1): _*)))
    reused.result()
    assert(
      built(reused, Seq(entry("a", 1), entry("b", 2))).data.length === KplAggregates(
        Seq(SubRecord("a", Vector(1)), SubRecord("b", Vector(2)))
      ).length
    )
  }

  private val nested = {
    val inside = KplAggregates(Seq(SubRecord("in", Vector(1)), SubRecord("in", Vector(2))))
    PutEntry("out", inside, Some(HashKey(7)))
  }

  test("a record whose data is an aggregate stays one record, alone and among others") {
    for (others <- 0 to 2) {
      val all = nested +: Seq.fill(others)(entry("k", 1))
      val made = exact(all)
      assert(SubRecords.read(made.data) === all.map(subRecord))
      assert(made.partitionKey === "a" && made.explicitHashKey === nested.explicitHashKey)
    }
  }

  test("a nested aggregate that does not fit into another is sent plain, and read as one record") {
    val wrapped = sizeOf(built(builder, Seq(nested)))
    for (most <- Seq(sizeOf(nested), wrapped - 1, wrapped)) {
      val tight = new AggregateBuilder(most)
      val told = tight.sizeWith(nested)
      tight.add(nested)
      assert((told, tight.size) === ((tight.size, told)))
      val made = tight.result()
      assert(sizeOf(made) === told && told <= most)
      assert((made eq nested) === (most < wrapped))
      assert(UserRecords.of(made).map(subRecord) === Vector(subRecord(nested)))
    }
  }

  test("a user's own aggregate that is written plain is read as one record") {
    for (key <- Seq("a", "b"); hashKey <- Seq(None, Some(HashKey(7)))) {
      val own = nested.copy(partitionKey = key, explicitHashKey = hashKey)
      val isAsOurs = key == "a" && hashKey.isDefined
      assert(UserRecords.of(own).size === (if (isAsOurs) 2 else 1))
    }
  }

  test("data that only starts like an aggregate is read as one record") {
    val marks = Gen.choose(0, 60).flatMap(Gen.listOfN(_, Gen.choose(-128, 127)))
    forAll(marks) { rest =>
      val one = PutEntry("k", Mark ++ rest.map(_.toByte), None)
      val made = built(builder, Seq(one))
      assert(UserRecords.of(made).map(subRecord) === Vector(subRecord(one)))
    }
  }
}
