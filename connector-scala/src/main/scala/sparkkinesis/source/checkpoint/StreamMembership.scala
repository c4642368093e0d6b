package sparkkinesis.source.checkpoint

import scala.collection.immutable.SortedMap

import org.slf4j.LoggerFactory

import sparkkinesis.model.StreamArn
import sparkkinesis.model.offset.{SourceOffset, StreamOffset}
import sparkkinesis.source.SourceException

/** Streams that join or leave a query between its runs: the options and the checkpoint differ. */
final class StreamMembership(named: SortedMap[StreamArn, QueryStream], allowRemoval: Boolean) {
  private val log = LoggerFactory.getLogger(classOf[StreamMembership])
  private var joined = Map.empty[StreamArn, StreamOffset]
  private var removed = Set.empty[StreamArn]

  /** The streams of checked offsets that the query no longer names. */
  def removedStreams: Set[StreamArn] = removed

  /** @throws SourceException if the offset has a stream that the query must not drop */
  def check(offset: SourceOffset): Unit = {
    val gone = offset.streams.keySet.toSet.diff(named.keySet).diff(removed)
    if (gone.nonEmpty) remove(gone, isOtherQuery = gone.size == offset.streams.size)
  }

  private def remove(gone: Set[StreamArn], isOtherQuery: Boolean): Unit = {
    val text = gone.toSeq.sorted.mkString(", ")
    if (!allowRemoval)
      throw new SourceException(
        if (isOtherQuery) "KINESIS_OTHER_STREAM" else "KINESIS_STREAM_REMOVED",
        s"The checkpoint belongs to $text, but the query reads ${named.keys.mkString(", ")}. To " +
          "read other streams, use a new checkpoint location. Otherwise name the streams of the " +
          "checkpoint, too. To discard the unread records of a stream, set 'allowStreamRemoval' " +
          "to 'true'."
      )
    log.warn(s"The query no longer reads $text, because 'allowStreamRemoval' is 'true'.")
    removed ++= gone
  }

  /** The offset without the streams that the query no longer names. */
  def withoutRemoved(offset: SourceOffset): SourceOffset =
    if (removed.exists(offset.streams.contains)) SourceOffset(offset.streams -- removed)
    else offset

  /** The offset with the streams that it lacks. Each begins at one place for the whole run. */
  def withJoined(offset: SourceOffset): SourceOffset = {
    val missing = named.keySet.diff(offset.streams.keySet)
    if (missing.isEmpty) offset
    else {
      joined ++= missing.diff(joined.keySet).toSeq.map { arn =>
        log.info(s"From now on the query reads $arn, too.")
        arn -> named(arn).firstOffset()
      }
      SourceOffset(offset.streams ++ missing.toSeq.map(arn => arn -> joined(arn)))
    }
  }
}
