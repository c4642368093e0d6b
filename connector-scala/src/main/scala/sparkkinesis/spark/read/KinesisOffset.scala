package sparkkinesis.spark.read

import org.apache.spark.sql.connector.read.streaming.Offset

import sparkkinesis.model.offset.SourceOffset
import sparkkinesis.source.checkpoint.OffsetCodec

/** What Spark's offset log keeps. */
final case class KinesisOffset(offset: SourceOffset) extends Offset {

  /** Spark's own compares the JSON, and an idle query is asked a hundred times a second. */
  override def equals(other: Any): Boolean = other match {
    case that: KinesisOffset => (offset eq that.offset) || offset == that.offset
    case _ => super.equals(other)
  }

  override def hashCode: Int = json.hashCode

  override lazy val json: String = OffsetCodec.encode(offset)
}
