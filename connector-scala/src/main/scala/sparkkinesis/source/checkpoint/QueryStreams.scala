package sparkkinesis.source.checkpoint

import java.time.Instant

import scala.collection.immutable.SortedMap
import scala.concurrent.duration.FiniteDuration

import org.slf4j.LoggerFactory

import sparkkinesis.client.StreamAccess
import sparkkinesis.compat._
import sparkkinesis.model.offset.{SourceOffset, StreamOffset}
import sparkkinesis.model.{StreamArn, StreamRef}
import sparkkinesis.source.SourceException
import sparkkinesis.source.options.SourceOptions

/**
 * The streams a query names beside those of its checkpoint: what has come and what has gone.
 *
 * @param streams each with how it is reached; asked for its ARN when that is first needed
 */
final class QueryStreams(
    options: SourceOptions,
    streams: Seq[(StreamAccess, StreamCheck)]
) {
  private val log = LoggerFactory.getLogger(classOf[QueryStreams])
  private lazy val named: SortedMap[StreamArn, (StreamAccess, StreamCheck)] =
    SortedMap.from(streams.map { case (access, stream) => stream.arn -> (access -> stream) })
  private var begun = Map.empty[StreamArn, StreamOffset] // streams that came in this run
  private var removed = Set.empty[StreamArn]
  private var met = Set.empty[StreamArn] // in offsets

  /** The first offset of a new query. */
  def begin(): SourceOffset = SourceOffset.of(streams.map(_._2.begin()))

  /** The services' time, as far as they tell: the latest of all streams. */
  def now(): Instant = streams.map(_._2.now()).max

  /** How often an idle query logs that it has seen all there was. */
  def confirmationPeriod: FiniteDuration = streams.map(_._2.confirmationPeriod).min

  /** How each stream is reached, one that has been removed as the others: its last batch may run again. */
  def access: Map[StreamArn, StreamAccess] =
    named.map { case (arn, (access, _)) => arn -> access } ++
      removed.map(arn => arn -> removedAccess(arn))

  private def removedAccess(arn: StreamArn): StreamAccess =
    StreamAccess(StreamRef.ByArn(arn), options.streams.head.client.copy(region = arn.region))

  /**
   * Once for each stream of the offsets that are met: is it one of the query's, still the same, and can
   * nothing have been trimmed unread?
   *
   * @throws SourceException where it is not, or something may have been
   */
  def check(offset: SourceOffset): Unit = {
    val fresh = offset.streams.keySet.toSet.diff(met)
    if (fresh.nonEmpty) {
      val gone = fresh.diff(named.keySet)
      if (gone.nonEmpty) checkRemoval(gone, offset)
      removed ++= gone
      fresh.intersect(named.keySet).foreach(arn => named(arn)._2.check(offset.streams(arn)))
      met ++= fresh
    }
  }

  private def checkRemoval(gone: Set[StreamArn], offset: SourceOffset): Unit = {
    val text = gone.toSeq.sorted.mkString(", ")
    val isOther = gone.size == offset.streams.size
    if (options.allowStreamRemoval)
      log.warn(s"No longer reading $text, as 'allowStreamRemoval' is 'true'.")
    else
      throw new SourceException(
        if (isOther) "KINESIS_OTHER_STREAM" else "KINESIS_STREAM_REMOVED",
        s"The checkpoint belongs to $text, and the query reads ${named.keys.mkString(", ")}. " +
          "Use a new checkpoint location for other streams, or name those of the checkpoint too. To " +
          "give up what is unread in a stream that is no longer named, set 'allowStreamRemoval' to 'true'."
      )
  }

  /** Without the streams that the query no longer names. */
  def kept(offset: SourceOffset): SourceOffset =
    if (removed.exists(offset.streams.contains)) SourceOffset(offset.streams -- removed)
    else offset

  /** Shards of which records may have been lost before this run. */
  def lostRanges: Long = streams.map(_._2.lostRanges).sum

  /** The offset without what was told to be lost: nobody needs to tell it again. */
  def told(offset: SourceOffset): SourceOffset =
    if (lostRanges == 0) offset
    else offset.transform((arn, known) => named.get(arn).fold(known)(_._2.told(known)))

  /** With the streams that the query names anew, each where it begins: decided once in a run. */
  def joined(offset: SourceOffset): SourceOffset = {
    val missing = named.keySet.diff(offset.streams.keySet)
    if (missing.isEmpty) offset
    else {
      begun ++= missing.diff(begun.keySet).toSeq.map { arn =>
        log.info(s"From now on $arn is read too.")
        arn -> named(arn)._2.begin()
      }
      SourceOffset(offset.streams ++ missing.toSeq.map(arn => arn -> begun(arn)))
    }
  }
}
