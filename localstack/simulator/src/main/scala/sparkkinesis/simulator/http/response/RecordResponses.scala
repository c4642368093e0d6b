package sparkkinesis.simulator.http.response

import com.fasterxml.jackson.core.JsonGenerator
import com.fasterxml.jackson.core.io.SerializedString

import sparkkinesis.model.Record
import sparkkinesis.simulator.http.wire.WireFormat
import sparkkinesis.simulator.record.{RecordCursor, RecordLog}

/** Writes the records of responses, directly from the packed arrays if there are any. */
private[http] final class RecordResponses(out: JsonGenerator, format: WireFormat) {
  import RecordResponses._

  /** Writes the member `Records`. */
  def all(records: Seq[Record]): Unit = {
    out.writeArrayFieldStart("Records")
    records match {
      case log: RecordLog =>
        val cursor = log.cursor
        while (cursor.advance()) record(cursor)
      case others => others.foreach(record)
    }
    out.writeEndArray()
  }

  private def record(r: RecordCursor): Unit = {
    out.writeStartObject()
    out.writeFieldName(SequenceNumber)
    val number = r.sequenceNumber
    out.writeUTF8String(number, 0, number.length)
    out.writeFieldName(Arrival)
    format.writeMillis(out, r.arrivalMillis)
    out.writeFieldName(Data)
    out.writeBinary(r.bytes, r.dataStart, r.dataLength)
    if (r.hasKey) {
      out.writeFieldName(PartitionKey)
      out.writeUTF8String(r.bytes, r.keyStart, r.keyLength)
    }
    encryption(r.encryptionType)
    out.writeEndObject()
  }

  private def record(r: Record): Unit = {
    out.writeStartObject()
    out.writeStringField(SequenceNumber.getValue, r.sequenceNumber.text)
    out.writeFieldName(Arrival)
    format.writeMillis(out, r.arrivalMillis)
    out.writeBinaryField(Data.getValue, r.data)
    r.partitionKey.foreach(out.writeStringField(PartitionKey.getValue, _))
    encryption(r.encryptionType)
    out.writeEndObject()
  }

  private def encryption(kind: Option[String]): Unit =
    kind.foreach(out.writeStringField("EncryptionType", _))
}

private[http] object RecordResponses {
  private val AroundARecord = 200

  // Encoded only once.
  private val SequenceNumber = new SerializedString("SequenceNumber")
  private val Arrival = new SerializedString("ApproximateArrivalTimestamp")
  private val Data = new SerializedString("Data")
  private val PartitionKey = new SerializedString("PartitionKey")

  /** Estimated size of the records in a response. */
  def size(records: Seq[Record], format: WireFormat): Int = records match {
    case log: RecordLog => format.encodedSize(log.bytes.toInt) + log.size * AroundARecord
    case others =>
      others.iterator.map(r => format.encodedSize(r.data.length) + AroundARecord).sum
  }
}
