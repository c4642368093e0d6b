package sparkkinesis.spark

import org.apache.spark.sql.connector.read.streaming.Offset

import sparkkinesis.model.StreamOffset
import sparkkinesis.source.OffsetCodec

/** What Spark's offset log keeps. */
final case class KinesisOffset(offset: StreamOffset) extends Offset {
  override def json: String = OffsetCodec.encode(offset)
}
