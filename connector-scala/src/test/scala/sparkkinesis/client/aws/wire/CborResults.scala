package sparkkinesis.client.aws.wire

import org.scalacheck.Gen

import sparkkinesis.Generators
import sparkkinesis.client.PutResult
import sparkkinesis.client.PutResult.{Failed, Written}
import sparkkinesis.model.ShardId

/** Answers of `PutRecords` in CBOR. */
private[wire] object CborResults {
  private val anyShard: Gen[ShardId] =
    Gen.oneOf(Gen.choose(0, 300).map(Generators.shardId), Gen.oneOf("s", "", "ш").map(ShardId(_)))

  private val anyResult: Gen[PutResult] = Gen.oneOf(
    Gen.zip(anyShard, Generators.sequenceNumber).map { case (s, n) => Written(s, n) },
    Gen.zip(Gen.oneOf("InternalFailure", "Ошибка"), Gen.oneOf("", "too fast")).map {
      case (code, message) => Failed(code, message)
    }
  )

  def anyResults(most: Int): Gen[Seq[PutResult]] =
    Gen.choose(0, most).flatMap(Gen.listOfN(_, anyResult))

  def encoded(results: Seq[PutResult], isSized: Boolean, hasMore: Boolean): Array[Byte] =
    CborPages.written { out =>
      def begin(size: Int): Unit =
        if (isSized) out.writeStartObject(null, size) else out.writeStartObject()
      def more(): Unit = if (hasMore) out.writeStringField("New", "ново")
      val extra = if (hasMore) 1 else 0
      begin(2 + extra)
      out.writeNumberField("FailedRecordCount", results.count(_.isInstanceOf[Failed]))
      out.writeFieldName("Records")
      if (isSized) out.writeStartArray(null, results.size) else out.writeStartArray()
      results.foreach { result =>
        begin(2 + extra)
        result match {
          case Written(shard, number) =>
            out.writeStringField("ShardId", shard.name)
            more()
            out.writeStringField("SequenceNumber", number.text)
          case Failed(code, message) =>
            out.writeStringField("ErrorCode", code)
            more()
            out.writeStringField("ErrorMessage", message)
        }
        out.writeEndObject()
      }
      out.writeEndArray()
      more()
      out.writeEndObject()
    }
}
