package sparkkinesis.client.aws

import java.io.ByteArrayOutputStream

import com.fasterxml.jackson.dataformat.cbor.{CBORFactory, CBORGenerator}
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.Generators._
import sparkkinesis.client.{Page, ShardIterator}
import sparkkinesis.model._

class GetRecordsCborSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val anyRecord: Gen[Record] = for {
    number <- sequenceNumber
    key <- Gen.option(partitionKey)
    size <- Gen.oneOf(Gen.choose(0, 40), Gen.choose(200, 300), Gen.choose(65000, 66000))
    arrival <- instant
    encryption <- Gen.oneOf(None, Some("NONE"), Some("KMS"))
  } yield Record(number, key, Array.fill(size)(7), arrival.toEpochMilli, encryption)

  private val anyPage: Gen[Page] = for {
    records <- Gen.choose(0, 5).flatMap(Gen.listOfN(_, anyRecord))
    next <- Gen.option(Gen.alphaNumStr.map(ShardIterator(_)))
    behind <- Gen.oneOf(0L, 23L, 24L, 255L, 65536L, 1L << 40)
  } yield Page(records.toVector, next, behind, Nil)

  private def written(write: CBORGenerator => Unit): Array[Byte] = {
    val out = new ByteArrayOutputStream
    val generator = new CBORFactory().createGenerator(out)
    write(generator)
    generator.close()
    out.toByteArray
  }

  /** As a service may write it: of known or unknown length, with members that we do not know. */
  private def encoded(page: Page, isSized: Boolean, hasMore: Boolean): Array[Byte] = written {
    out =>
      def begin(size: Int): Unit =
        if (isSized) out.writeStartObject(null, size) else out.writeStartObject()
      def more(): Unit = if (hasMore) {
        out.writeFieldName("New")
        out.writeStartObject()
        out.writeArrayFieldStart("a")
        out.writeNumber(-3.5)
        out.writeBoolean(true)
        out.writeNull()
        out.writeEndArray()
        out.writeEndObject()
      }
      val extra = if (hasMore) 1 else 0
      begin(2 + page.next.size + extra)
      more()
      out.writeFieldName("Records")
      if (isSized) out.writeStartArray(null, page.records.size) else out.writeStartArray()
      page.records.foreach { r =>
        begin(3 + r.partitionKey.size + r.encryptionType.size + extra)
        out.writeStringField("SequenceNumber", r.sequenceNumber.text)
        out.writeFieldName("ApproximateArrivalTimestamp")
        out.writeTag(1)
        out.writeNumber(r.arrivalMillis)
        more()
        out.writeBinaryField("Data", r.data)
        r.partitionKey.foreach(out.writeStringField("PartitionKey", _))
        r.encryptionType.foreach(out.writeStringField("EncryptionType", _))
        out.writeEndObject()
      }
      out.writeEndArray()
      page.next.foreach(next => out.writeStringField("NextShardIterator", next.token))
      out.writeNumberField("MillisBehindLatest", page.millisBehindLatest)
      out.writeEndObject()
  }

  test("a page comes out as it was written") {
    forAll(anyPage, Gen.oneOf(true, false), Gen.oneOf(true, false)) { (page, isSized, hasMore) =>
      assert(GetRecordsCbor.decode(encoded(page, isSized, hasMore)) === Some(page))
    }
  }

  test("a page cut short, or with more behind it, is left to the SDK") {
    val page = Page(
      Vector(Record(SequenceNumber("12"), Some("k"), Array.fill(40)(1), 5, Some("KMS"))),
      Some(ShardIterator("next")),
      0,
      Nil
    )
    Seq(true, false).foreach { isSized =>
      val whole = encoded(page, isSized, hasMore = true)
      assert(GetRecordsCbor.decode(whole).nonEmpty)
      whole.indices.foreach(n => assert(GetRecordsCbor.decode(whole.take(n)).isEmpty, n))
      assert(GetRecordsCbor.decode(whole :+ 0.toByte).isEmpty)
    }
  }

  test("any bytes are read or left to the SDK, and never fail") {
    val bytes = Gen.choose(0, 60).flatMap(Gen.listOfN(_, Gen.choose(Byte.MinValue, Byte.MaxValue)))
    val page = anyPage.map(encoded(_, isSized = false, hasMore = true))
    forAll(bytes)(b => GetRecordsCbor.decode(b.toArray))
    forAll(page, Gen.choose(0, 1 << 20), Gen.choose(Byte.MinValue, Byte.MaxValue)) { (b, at, to) =>
      GetRecordsCbor.decode(b.updated(at % b.length, to))
    }
  }

  private def unusual(name: String)(write: CBORGenerator => Unit): Unit =
    test(s"$name is left to the SDK")(assert(GetRecordsCbor.decode(written(write)).isEmpty))

  unusual("the last page of a closed shard") { out =>
    out.writeStartObject()
    out.writeArrayFieldStart("ChildShards")
    out.writeEndArray()
    out.writeEndObject()
  }

  private def record(out: CBORGenerator)(members: => Unit): Unit = {
    out.writeStartObject()
    out.writeArrayFieldStart("Records")
    out.writeStartObject()
    members
    out.writeEndObject()
    out.writeEndArray()
    out.writeEndObject()
  }

  unusual("data as text")(out => record(out)(out.writeStringField("Data", "AAAA")))
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
  unusual("an encryption type unheard of") { out =>
    record(out) {
      out.writeStringField("SequenceNumber", "12")
      out.writeStringField("EncryptionType", "ROT13")
    }
  }
}
