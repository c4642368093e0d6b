package sparkkinesis.spark.payload

import java.io.ByteArrayOutputStream

import org.apache.avro.Schema
import org.apache.avro.generic.{GenericDatumWriter, GenericRecord, GenericRecordBuilder}
import org.apache.avro.io.EncoderFactory
import org.scalacheck.{Arbitrary, Gen}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class AvroSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
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

  test("the header of a registry is a problem, although a value of the schema begins with it") {
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

  private val Writer = schema("")
  private val Reader = schema(""",{"name":"note","type":"string","default":""}""")

  private val order: Gen[Array[Byte]] = for {
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
