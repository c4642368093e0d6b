package sparkkinesis.model.aggregate

import java.nio.charset.StandardCharsets.UTF_8

import com.fasterxml.jackson.databind.ObjectMapper
import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Repository
import sparkkinesis.model.{HashKey, PutEntry, ServiceLimits}

/** Tags carry an identity, and consumers that deaggregate see the rows as before. */
class AggregateTagsSuite extends AnyFunSuite {
  private def tagged =
    new AggregateBuilder(ServiceLimits.RecordBytes, tags = Some(new AggregateTags("me 1")))

  private def row(number: Int) = PutEntry(s"key-$number", s"row $number".getBytes(UTF_8), None)

  private def built(builder: AggregateBuilder, rows: Int*): PutEntry = {
    rows.foreach(number => builder.add(row(number)))
    builder.result()
  }

  test("the text of the tag is found again; its number differs in each aggregate") {
    val builder = tagged
    val (first, second) = (built(builder, 1, 2), built(builder, 1, 2))
    assert(AggregateTags.textOf(first.data).contains("me 1"))
    assert(AggregateTags.textOf(second.data).contains("me 1"))
    assert(first.data.toSeq !== second.data.toSeq)
  }

  test("a single row is an aggregate, too") {
    val one = built(tagged, 7)
    assert(AggregateTags.textOf(one.data).contains("me 1"))
    assert(UserRecords.of(one).map(it => new String(it.data, UTF_8)) === Vector("row 7"))
  }

  test("all rows have the hash key of the first, so a reshard leaves none outside of its shard") {
    val three = UserRecords.of(built(tagged, 1, 2, 3))
    assert(three.map(_.partitionKey) === Vector("key-1", "key-2", "key-3"))
    assert(three.map(_.explicitHashKey).distinct === Vector(Some(HashKey.of("key-1"))))
  }

  test("the size is known before a row is added") {
    val builder = tagged
    (1 to 40).foreach { number =>
      val expected = builder.sizeWith(row(number))
      builder.add(row(number))
      assert(builder.size === expected)
    }
    val size = builder.size
    val made = builder.result()
    assert(made.data.length + made.partitionKey.length === size)
  }

  test("other bytes have no tag") {
    val plain = new AggregateBuilder(ServiceLimits.RecordBytes)
    val cut = built(tagged, 1, 2).data
    Seq(
      Array.emptyByteArray,
      row(1).data,
      built(plain, 1, 2).data,
      AggregateMarker.entry(HashKey.Min).data,
      cut.take(40)
    ).foreach(bytes => assert(AggregateTags.textOf(bytes) === None))
  }

  test("a marker is an aggregate without a row") {
    val marker = AggregateMarker.entry(HashKey(5))
    assert(marker.hashKey === HashKey(5))
    assert(AggregateMarker.is(marker.data, 0, marker.data.length))
    assert(!AggregateMarker.is(row(1).data, 0, row(1).data.length))
    assert(AggregateReader.isMarked(marker.data, 0, marker.data.length))
  }

  test("another producer makes the same bytes, which readers by others read") {
    val file = Repository.root.resolve("tests/golden/kpl/once.json")
    val golden = new ObjectMapper().readTree(file.toFile)
    def data(name: String) = golden.get(name).get("data").binaryValue.toSeq
    val tags = new AggregateTags("q 7 i 0 2 5")
    val builder = new AggregateBuilder(ServiceLimits.RecordBytes, tags = Some(tags))
    val three = Seq("key-1" -> "row 1", "key-2" -> "row 2", "key-1" -> "row 3")
    three.foreach { case (key, text) => builder.add(PutEntry(key, text.getBytes(UTF_8), None)) }
    assert(builder.result().data.toSeq === data("several rows"))
    builder.add(row(1))
    assert(builder.result().data.toSeq === data("one row"))
    assert(AggregateMarker.entry(HashKey(5)).data.toSeq === data("marker"))
  }
}
