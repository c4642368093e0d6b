package sparkkinesis.client.aws.wire

import com.fasterxml.jackson.dataformat.cbor.CBORGenerator
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Properties
import sparkkinesis.client.{Page, ShardIterator}
import sparkkinesis.model.{Record, SequenceNumber}

class GetRecordsDecoderSuite extends AnyFunSuite with Properties {
  import CborPages._

  test("a decoded page equals the one that was encoded") {
    forAll(anyPage, Gen.oneOf(true, false), Gen.oneOf(true, false)) { (page, isSized, hasMore) =>
      assert(GetRecordsDecoder.decode(encoded(page, isSized, hasMore)) === Some(page))
    }
  }

  test("a truncated page, or one with trailing bytes, is left to the SDK") {
    val page = Page(
      Vector(Record(SequenceNumber("12"), Some("k"), Array.fill(40)(1), 5, Some("KMS"))),
      Some(ShardIterator("next")),
      0,
      Nil
    )
    Seq(true, false).foreach { isSized =>
      val whole = encoded(page, isSized, hasMore = true)
      assert(GetRecordsDecoder.decode(whole).nonEmpty)
      whole.indices.foreach(n => assert(GetRecordsDecoder.decode(whole.take(n)).isEmpty, n))
      assert(GetRecordsDecoder.decode(whole :+ 0.toByte).isEmpty)
    }
  }

  test("any bytes are decoded or left to the SDK, and never fail") {
    val bytes = Gen.choose(0, 60).flatMap(Gen.listOfN(_, Gen.choose(Byte.MinValue, Byte.MaxValue)))
    val page = anyPage.map(encoded(_, isSized = false, hasMore = true))
    forAll(bytes)(b => GetRecordsDecoder.decode(b.toArray))
    forAll(page, Gen.choose(0, 1 << 20), Gen.choose(Byte.MinValue, Byte.MaxValue)) { (b, at, to) =>
      GetRecordsDecoder.decode(b.updated(at % b.length, to))
    }
  }

  private def unusual(name: String)(write: CBORGenerator => Unit): Unit =
    test(s"$name is left to the SDK")(assert(GetRecordsDecoder.decode(written(write)).isEmpty))

  private def record(out: CBORGenerator)(members: => Unit): Unit = {
    out.writeStartObject()
    out.writeArrayFieldStart("Records")
    out.writeStartObject()
    members
    out.writeEndObject()
    out.writeEndArray()
    out.writeEndObject()
  }

  test("a record with only the required members is decoded") {
    val bytes = written { out =>
      record(out) {
        out.writeStringField("SequenceNumber", "12")
        out.writeBinaryField("Data", Array[Byte](1))
      }
    }
    assert(GetRecordsDecoder.decode(bytes).map(_.records.size) === Some(1))
  }

  unusual("data as text") { out =>
    record(out) {
      out.writeStringField("SequenceNumber", "12")
      out.writeStringField("Data", "AAAA")
    }
  }
  unusual("a sequence number with a letter") { out =>
    record(out)(out.writeStringField("SequenceNumber", "12a"))
  }
  unusual("an empty sequence number")(out =>
    record(out)(out.writeStringField("SequenceNumber", ""))
  )
  unusual("a sequence number too long") { out =>
    record(out)(out.writeStringField("SequenceNumber", "1" * 129))
  }
  unusual("a record without a sequence number") { out =>
    record(out)(out.writeStringField("PartitionKey", "k"))
  }
  unusual("a null key") { out =>
    record(out) {
      out.writeStringField("SequenceNumber", "12")
      out.writeNullField("PartitionKey")
    }
  }

  test("an encryption type unheard of keeps its name") {
    val bytes = written { out =>
      record(out) {
        out.writeStringField("SequenceNumber", "12")
        out.writeStringField("EncryptionType", "ROT13")
      }
    }
    val found = GetRecordsDecoder.decode(bytes).map(_.records.head.encryptionType)
    assert(found === Some(Some("ROT13")))
  }
}
