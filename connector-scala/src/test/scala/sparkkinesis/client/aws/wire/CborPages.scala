package sparkkinesis.client.aws.wire

import java.io.ByteArrayOutputStream

import com.fasterxml.jackson.dataformat.cbor.{CBORFactory, CBORGenerator}
import org.scalacheck.Gen

import sparkkinesis.Generators._
import sparkkinesis.client.{Page, ShardIterator}
import sparkkinesis.model.Record

/** Answers of `GetRecords` in CBOR. */
private[aws] object CborPages {
  val anyRecord: Gen[Record] = for {
    number <- sequenceNumber
    key <- Gen.option(partitionKey)
    size <- Gen.oneOf(Gen.choose(0, 40), Gen.choose(200, 300), Gen.choose(65000, 66000))
    arrival <- instant
    encryption <- Gen.oneOf(None, Some("NONE"), Some("KMS"))
  } yield Record(number, key, Array.fill(size)(7), arrival.toEpochMilli, encryption)

  val anyPage: Gen[Page] = for {
    records <- Gen.choose(0, 5).flatMap(Gen.listOfN(_, anyRecord))
    next <- Gen.option(Gen.alphaNumStr.map(ShardIterator(_)))
    behind <- Gen.oneOf(0L, 23L, 24L, 255L, 65536L, 1L << 40)
    children <- Gen.choose(0, 2).flatMap(Gen.listOfN(_, EventStreams.anyChild))
  } yield Page(records.toVector, next, behind, children.toVector)

  /** Heads of every kind and length, more often than chance has them. */
  val anyByte: Gen[Byte] = Gen.oneOf(
    Gen.choose(Byte.MinValue, Byte.MaxValue),
    Gen.oneOf(0x18, 0x1b, 0x20, 0x3b, 0x40, 0x5f, 0x60, 0x7f, 0x80, 0x9f, 0xa0, 0xbf).map(_.toByte),
    Gen.oneOf(0xc0, 0xc1, 0xf4, 0xf5, 0xf6, 0xf7, 0xf9, 0xfa, 0xfb, 0xff).map(_.toByte)
  )

  def written(write: CBORGenerator => Unit): Array[Byte] = {
    val out = new ByteArrayOutputStream
    val generator = new CBORFactory().createGenerator(out)
    write(generator)
    generator.close()
    out.toByteArray
  }

  /** A page as a service may encode it: with known or unknown lengths, and with unknown members. */
  def encoded(page: Page, isSized: Boolean, hasMore: Boolean): Array[Byte] = written { out =>
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
    val parts = page.millisBehindLatest.size + page.next.size + page.children.headOption.size
    begin(1 + parts + extra)
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
    if (page.children.nonEmpty) {
      out.writeArrayFieldStart("ChildShards")
      page.children.foreach(child => EventStreams.writeChild(out, child)(more()))
      out.writeEndArray()
    }
    page.next.foreach(next => out.writeStringField("NextShardIterator", next.token))
    page.millisBehindLatest.foreach(out.writeNumberField("MillisBehindLatest", _))
    out.writeEndObject()
  }
}
