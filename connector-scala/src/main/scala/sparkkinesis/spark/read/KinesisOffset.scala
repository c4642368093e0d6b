package sparkkinesis.spark.read

import org.apache.spark.sql.connector.read.streaming.Offset

import sparkkinesis.model.StreamArn
import sparkkinesis.model.offset.SourceOffset
import sparkkinesis.source.checkpoint.OffsetCodec
import sparkkinesis.spark.lineage.KnownStreams

/** The offset in Spark's offset log. */
private[sparkkinesis] final case class KinesisOffset(offset: SourceOffset)
    extends Offset
    with KnownStreams {

  /**
   * Faster than Spark's comparison of JSON: Spark polls an idle query a hundred times per second.
   */
  override def equals(other: Any): Boolean = other match {
    case that: KinesisOffset => (offset eq that.offset) || offset == that.offset
    case _ => super.equals(other)
  }

  override def hashCode: Int = json.hashCode

  override lazy val json: String = OffsetCodec.encode(offset)

  override def knownStreams: Iterable[StreamArn] = offset.streams.keys
}

/**
 * The offsets that Spark has. It passes them as text, before every poll: the same object is quick
 * to compare, and a batch between the same objects is planned once.
 */
private[read] final class RecentOffsets {
  private var recent = Vector.empty[KinesisOffset] // the newest first

  def of(json: String): KinesisOffset =
    recent.find(_.json == json).getOrElse(keep(KinesisOffset(OffsetCodec.decode(json))))

  /** Shares the text if Spark has the offset: Spark keeps it a hundred times. */
  def shared(offset: SourceOffset): KinesisOffset =
    recent.find(_.offset eq offset).getOrElse(KinesisOffset(offset))

  def keep(offset: KinesisOffset): KinesisOffset = {
    recent = (offset +: recent).take(RecentOffsets.Count)
    offset
  }
}

private object RecentOffsets {

  /** Start and end of a batch, and the end of the batch before. */
  private val Count = 3
}
