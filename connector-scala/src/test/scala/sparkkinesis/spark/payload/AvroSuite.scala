package sparkkinesis.spark.payload

import java.io.ByteArrayOutputStream

import org.apache.avro.Schema
import org.apache.avro.generic.{GenericDatumWriter, GenericRecord, GenericRecordBuilder}
import org.apache.avro.io.EncoderFactory
import org.scalacheck.{Arbitrary, Gen}
import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Properties

class AvroSuite extends AnyFunSuite with Properties {
  import AvroSuite._

  test("a value of the schema is no problem, and one that is cut or continued is one") {
    forAll(order, Gen.choose(0.0, 1.0)) { (bytes, part) =>
      assert(Avro.problem(bytes, Writer, Writer) === None)
      assert(Avro.problem(bytes, Writer, Reader) === None)
      val end = (bytes.length * part).toInt min (bytes.length - 1)
      assert(Avro.problem(bytes.take(end), Writer, Writer).isDefined)
      assert(Avro.problem(bytes :+ 0.toByte, Writer, Writer) === Some(LeftOver))
    }
  }

  test(
    "the header of a registry is a problem, although a value of the schema begins with it"
  ) {
    forAll(order, Gen.uuid) { (bytes, version) =>
      val header = java.nio.ByteBuffer.allocate(18).put(3.toByte).put(0.toByte)
      header.putLong(version.getMostSignificantBits).putLong(version.getLeastSignificantBits)
      assert(Avro.problem(header.array ++ bytes, Writer, Writer).isDefined)
    }
  }

  test("any bytes give an answer, and damaged lengths take no memory") {
    forAll(Gen.containerOf[Array, Byte](Arbitrary.arbitrary[Byte])) { bytes =>
      Avro.problem(bytes, Writer, Reader): Unit
    }
    val gigabytes = Array[Byte](2, -2, -1, -1, -1, 15) // an id, and a string of 2^31 - 1 bytes
    assert(Avro.problem(gigabytes, Writer, Writer).isDefined)
  }

  test("a block of an array has the items and the size that it claims") {
    def tags(bytes: Int*) = Array[Byte](0, 0, 0) ++ bytes.map(_.toByte)
    def found(bytes: Int*) = Avro.problem(tags(bytes: _*), Writer, Reader)
    assert(found(2, 2, 'a', 0) === None)
    assert(found(1, 4, 2, 'a', 0) === None) // one item, in two bytes
    assert(found(1, 0, 2, 'a', 0).isDefined)
    assert(found(1, 0, 0).isDefined)
    assert(found(1, 3).isDefined) // a size of -2 bytes
    assert(found(0xed, 0xff, 0xff, 0xff, 0x0f, 0, 0).isDefined) // 2^31 - 9 items
    assert(found(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0, 0).isDefined) // -2^63
  }

  test("items without bytes are at most as many as the bytes of the value") {
    val nulls = """{"type":"array","items":"null"}"""
    assert(Avro.problem(Array(4, 0), nulls, nulls) === None)
    assert(
      Avro
        .problem(Array(-128, -128, -128, -128, -128, -128, -128, -128, 127, 0), nulls, nulls)
        .isDefined
    )
    val blocks = Array.fill(1000)(Array[Byte](126)).flatten :+ 0.toByte
    assert(Avro.problem(blocks, nulls, nulls).isDefined)
  }

  test("a value of a type that contains itself does not overflow the stack") {
    val node = """{"type":"record","name":"Node","fields":[
      {"name":"next","type":["null","Node"]}]}"""
    def chain(length: Int) = Array.fill[Byte](length)(2) :+ 0.toByte
    assert(Avro.problem(chain(50), node, node) === None)
    assert(Avro.problem(chain(1 << 20), node, node).isDefined)
  }

  test(
    "a schema of the reader that cannot read the value is the reason, and not the bytes"
  ) {
    val lacking = schema(""",{"name":"note","type":"string"}""")
    forAll(order) { bytes =>
      assert(Avro.problem(bytes, Writer, lacking).exists(_.startsWith("INCOMPATIBLE: ")))
    }
  }

  test("a time and a decimal that Spark cannot hold are problems") {
    val time = """{"type":"long","logicalType":"timestamp-millis"}"""
    val text = """{"type":"bytes","logicalType":"decimal","precision":2,"scale":1}"""
    val fixed =
      text.replace("bytes", "fixed").replace(",\"logical", ",\"name\":\"D\",\"size\":2,\"logical")
    def found(schema: String, bytes: Int*) =
      Avro.problem(bytes.map(_.toByte).toArray, schema, schema)
    val longest = Seq.fill(9)(0xff) :+ 1 // -2^63
    assert(found(time, 0x7f) === None)
    assert(found(time, longest: _*).isDefined)
    assert(found(""""long"""", longest: _*) === None)
    assert(found(text, 2, 99) === None)
    assert(found(text, 2, -99) === None)
    assert(found(text, 2, 100).isDefined)
    assert(found(text, 0).isDefined)
    assert(found(text, 20, 0).isDefined)
    assert(found(fixed, 0, 99) === None)
    assert(found(fixed, 1, 0).isDefined)
  }

  test("a default of the wrong type is accepted, as from_avro does") {
    val odd = """{"type":"record","name":"R","fields":[
      {"name":"note","type":"string","default":1}]}"""
    assert(Avro.problem(Array(2, 'a'), odd, odd) === None)
  }

  test("a symbol that an enumeration does not have is a problem") {
    val schema = """{"type":"enum","name":"E","symbols":["A","B"]}"""
    assert(Avro.problem(Array(2), schema, schema) === None)
    assert(Avro.problem(Array(4), schema, schema).isDefined)
  }
}

object AvroSuite {
  private val LeftOver = "NOT_AVRO: bytes are left over"

  private def schema(more: String) = s"""{"type":"record","name":"Order","fields":[
    {"name":"id","type":"long"},{"name":"customer","type":"string"},
    {"name":"total","type":["null","double"]},
    {"name":"tags","type":{"type":"array","items":"string"}}$more]}"""

  private[payload] val Writer = schema("")
  private val Reader = schema(""",{"name":"note","type":"string","default":""}""")

  private[payload] val order: Gen[Array[Byte]] = for {
    id <- Arbitrary.arbitrary[Long]
    customer <- Arbitrary.arbitrary[String].map(_.filterNot(_.isSurrogate))
    total <- Gen.option(Arbitrary.arbitrary[Double])
    tags <- Gen.listOf(Gen.alphaStr)
  } yield encoded { order =>
    order.set("id", id)
    order.set("customer", customer)
    order.set("total", total.map(Double.box).orNull)
    order.set("tags", java.util.Arrays.asList(tags: _*)): Unit
  }

  private def encoded(fill: GenericRecordBuilder => Unit): Array[Byte] = {
    val parsed = new Schema.Parser().parse(Writer)
    val builder = new GenericRecordBuilder(parsed)
    fill(builder)
    val bytes = new ByteArrayOutputStream
    val encoder = EncoderFactory.get.binaryEncoder(bytes, null)
    new GenericDatumWriter[GenericRecord](parsed).write(builder.build(), encoder)
    encoder.flush()
    bytes.toByteArray
  }
}
