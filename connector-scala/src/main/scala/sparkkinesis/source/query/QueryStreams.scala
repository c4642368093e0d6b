package sparkkinesis.source.query

import java.time.Instant

import scala.collection.immutable.SortedMap
import scala.concurrent.duration.FiniteDuration
import scala.util.Try

import org.slf4j.LoggerFactory

import sparkkinesis.client.{Moment, StreamAccess, StreamSummary}
import sparkkinesis.compat._
import sparkkinesis.model.offset.{SourceOffset, StreamOffset}
import sparkkinesis.model.{Shard, StreamArn, StreamRef, StreamShard}
import sparkkinesis.shard.SourceException
import sparkkinesis.source.checkpoint.DescribedStream
import sparkkinesis.source.options.SourceOptions
import sparkkinesis.source.watch.Expiry

/**
 * The streams of a query. They may join and leave it between its runs: the options and the
 * checkpoint differ then. Each stream of an offset is checked once.
 *
 * @param described the streams that the options name
 * @param chance evenly distributed in `[0, 1)`, for jitter
 */
private[sparkkinesis] final class QueryStreams(
    options: SourceOptions,
    described: Seq[DescribedStream],
    chance: () => Double
) {
  private val log = LoggerFactory.getLogger(classOf[QueryStreams])
  private val named = SortedMap.from(described.map(stream => stream.arn -> stream))
  private val watches = named.map { case (arn, stream) =>
    arn -> new StreamWatch(
      stream,
      options.failOnDataLoss,
      options.discoveryInterval,
      options.fetch.reads.retryTimeout,
      chance
    )
  }
  private var checked = Set.empty[StreamArn]
  private var removed = Set.empty[StreamArn]
  private var joining = Set.empty[StreamArn] // until it is known where they begin
  private var joined = Map.empty[StreamArn, Try[StreamOffset]]

  /** The retention period of each stream that the options name, when the query began. */
  def retention: Map[StreamArn, FiniteDuration] = named.map { case (arn, it) =>
    arn -> it.retention
  }

  /**
   * How often an idle query logs that it has read all records, by the present retention periods.
   */
  def confirmationPeriod: FiniteDuration = watches.values.map(_.retained).min / 16

  /** How to reach each stream, including removed ones: Spark may run their last batch again. */
  def access: Map[StreamArn, StreamAccess] =
    named.map { case (arn, stream) => arn -> stream.access } ++ removed.map { arn =>
      val client = options.streams.head.client.copy(region = arn.region)
      arn -> StreamAccess(StreamRef.ByArn(arn), client)
    }

  /**
   * Checks the streams of an offset that no earlier call has checked.
   *
   * @throws SourceException if a stream is not one of the query's or was created again, or if its
   *   records may have expired unread
   */
  def check(offset: SourceOffset, now: Moment): Unit = {
    val unchecked = offset.streams.filter { case (arn, _) => !checked(arn) }
    if (unchecked.nonEmpty) {
      val gone = offset.streams.keySet.toSet.diff(named.keySet).diff(removed)
      if (gone.nonEmpty) remove(gone, isOtherQuery = gone.size == offset.streams.size)
      for ((arn, known) <- unchecked; watch <- watches.get(arn)) watch.checkStart(known, now)
      checked ++= unchecked.keySet
    }
  }

  private def remove(gone: Set[StreamArn], isOtherQuery: Boolean): Unit = {
    val text = gone.toSeq.sorted.mkString(", ")
    if (!options.allowStreamRemoval)
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

  /** The offset without the times that revealed a loss: nobody reports it twice. */
  def withoutReportedLoss(offset: SourceOffset): SourceOffset =
    each(offset)(_.withoutReportedLoss(_))

  /** What must be asked before `withJoined` can answer. */
  def join(offset: SourceOffset): Vector[Command] = {
    val missing = missingIn(offset).diff(joining)
    joining ++= missing
    missing.toVector.map { arn =>
      log.info(s"From now on the query reads $arn, too.")
      Command.Begin(arn)
    }
  }

  def begun(stream: StreamArn, answer: Try[StreamOffset]): Unit =
    if (!joined.contains(stream)) joined += stream -> answer

  /**
   * The offset with the streams that it lacks. Each begins at one place for the whole run.
   *
   * @return `None` while an answer is missing
   * @throws java.lang.Exception if one of them cannot begin
   */
  def withJoined(offset: SourceOffset): Option[SourceOffset] = {
    val missing = missingIn(offset)
    if (missing.isEmpty) Some(offset)
    else
      Option.when(missing.forall(joined.contains)) {
        SourceOffset(offset.streams ++ missing.toSeq.map(arn => arn -> joined(arn).get))
      }
  }

  private def missingIn(offset: SourceOffset) = named.keySet.diff(offset.streams.keySet)

  /**
   * Sets where the next batch starts.
   *
   * @throws SourceException if a stream was deleted or recreated, or a shard would never be read
   */
  def advance(start: SourceOffset, now: Moment): Vector[Command] = {
    watched(start).foreach { case (watch, offset) => watch.advance(offset) }
    watches.values.foreach(_.check())
    tick(now)
  }

  /** Time passes: inspections begin. */
  def tick(now: Moment): Vector[Command] = watches.values.flatMap(_.tick(now)).toVector

  def listed(stream: StreamArn, answer: Try[Seq[Shard]], now: Moment): Option[Command] =
    watches(stream).listed(answer, now)

  def probed(stream: StreamArn, areGone: Try[Boolean], now: Moment): Option[Command] =
    watches(stream).probed(areGone, now)

  def described(stream: StreamArn, answer: Try[StreamSummary], now: Moment): Option[Command] =
    watches(stream).described(answer, now)

  /** Whether `advance` throws. */
  def hasFailed: Boolean = watches.values.exists(_.hasFailed)

  /** Asks whether a stream was deleted or recreated, which explains a failure elsewhere. */
  def explain(): Vector[Command] = watches.values.map(_.explain()).toVector

  /** The explanation, if there is one: `None` while an answer is missing. */
  def explanation: Option[Option[Throwable]] =
    if (hasFailed) Some(watches.values.flatMap(it => Try(it.check()).failed.toOption).headOption)
    else Option.when(!watches.values.exists(_.mayExplain))(None)

  /** See [[StreamWatch.repair]]. */
  def repair(end: SourceOffset): SourceOffset = each(end)(_.repair(_))

  /** See [[StreamWatch.isSettled]]. */
  def isSettled(start: SourceOffset): Boolean =
    watched(start).forall { case (watch, _) => watch.isSettled }

  /** Ranges of which the driver has found records missing. */
  def lostRanges: Long = watches.values.map(_.lostRanges).sum

  /** The shards that the last listings show as closed. */
  def closed: Set[StreamShard] = {
    val all = for ((arn, watch) <- watches.iterator; id <- watch.closed) yield StreamShard(arn, id)
    all.toSet
  }

  /** Number of ranges of hash keys and of parents that the last listings lack. */
  def listingHoles: Int = watches.values.map(_.listingHoles).sum

  /** Number of failed calls that list shards. */
  def failedListings: Long = watches.values.map(_.failedListings).sum

  /** The service's time. */
  def times(now: Moment): Map[StreamArn, Instant] = watches.map { case (arn, it) =>
    arn -> it.serviceTime(now)
  }

  /**
   * The shard whose records expire first.
   *
   * @param unread since when each shard has had records that were not processed
   */
  def soonestExpiry(unread: Map[StreamShard, Instant], now: Moment): Option[Expiry] =
    Expiry.soonest(
      unread,
      watches.map { case (arn, it) =>
        arn -> (it.retained -> it.serviceTime(now))
      }
    )

  /** Warns if records expire soon. */
  def lookAtExpiry(unread: Map[StreamShard, Instant], now: Moment): Option[Command] =
    soonestExpiry(unread, now).flatMap(it => watches(it.shard.stream).looksAt(it, now))

  private def each(offset: SourceOffset)(change: (StreamWatch, StreamOffset) => StreamOffset) =
    offset.transform((arn, known) => watches.get(arn).fold(known)(change(_, known)))

  private def watched(offset: SourceOffset): Seq[(StreamWatch, StreamOffset)] =
    for {
      (arn, known) <- offset.streams.toSeq
      watch <- watches.get(arn)
    } yield watch -> known
}
