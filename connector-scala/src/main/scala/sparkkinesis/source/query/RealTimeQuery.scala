package sparkkinesis.source.query

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.client.Moment
import sparkkinesis.model.StreamShard
import sparkkinesis.model.offset.SourceOffset
import sparkkinesis.source.options.SourceOptions
import sparkkinesis.source.plan.ShardCounts
import sparkkinesis.source.realtime._

/**
 * The driver's side of a query in real-time mode: plans the tasks of each batch, joins their ends
 * to the offset of the next one, and ends a batch early if another one is needed.
 *
 * @param patience how long a shard may be without a task before the batch ends
 */
final class RealTimeQuery(
    options: SourceOptions,
    streams: QueryStreams,
    patience: FiniteDuration = LiveBatches.Patience
) extends SourceQuery[LiveStatus](options.names, streams) {

  override protected val coordinator = new LiveCoordinator(patience)
  private val batches = new LiveBatches(options.names, coordinator)
  private var slots = 0
  private var isWanted = false // whether something outside wants another batch

  /**
   * How the world around the query is. Call it before each batch and with each tick.
   *
   * @param slots how many tasks can run at the same time
   * @param isWanted whether the query is to stop, or another source of it ends its batch: Spark
   *   ends a batch when the tasks of all sources have ended
   */
  def around(slots: Int, isWanted: Boolean, now: Moment): Unit = {
    this.slots = options.maxPartitions.fold(slots)(math.min(slots, _))
    this.isWanted = isWanted || batches.hasMoreSlots(this.slots, now)
  }

  /** Whether the running batch is to end early. */
  def isEnding: Boolean = coordinator.isEnding

  override def heard(beat: LiveStatus): LiveReply = {
    if (isWanted || hasFailed) coordinator.endBatch()
    coordinator.answer(beat)
  }

  /** Plans the batch that begins there. Spark asks several times, so it is planned once. */
  def began(start: SourceOffset, now: Moment): Answer[LiveBatch] = answering(now) {
    streams.check(start, now)
    val from = streams.withoutRemoved(start)
    leave(streams.advance(from, now))
    failing(None, now).orElse(joining(from, now)).getOrElse {
      // Streams join between two batches.
      val endsAtOnce = streams.withJoined(from).exists(_ ne from)
      Answer.Ready(batches.batch(streams.withoutReportedLoss(from), slots, endsAtOnce, now))
    }
  }

  /**
   * The executor that reads most of a task's shards: its host and ID.
   *
   * @param starts of the task
   */
  def place(starts: Seq[ShardStart]): Option[(String, String)] =
    starts.toVector
      .flatMap(start => coordinator.location(start.shard))
      .groupBy(identity)
      .toVector
      .sortBy { case (place, all) => (-all.size, place) }
      .headOption
      .map(_._1)

  /**
   * A batch has ended: see [[LiveBatches.end]].
   *
   * @return where the next one begins
   */
  def ended(ends: Seq[TaskEnd], now: Moment): SourceOffset = {
    val end = batches.end(
      ends,
      start => streams.withJoined(start).getOrElse(start),
      streams.confirmationPeriod,
      now
    )
    streams.repair(end)
  }

  override protected def unread: Map[StreamShard, Instant] = coordinator.unread

  /** @param offset up to which batches have read */
  def report(offset: SourceOffset, now: Moment): QueryReport = {
    val frontiers = coordinator.frontiers
    val unfinished = offset.settled.streams.valuesIterator.map(_.shards.size).sum
    val open = offset.readable.size
    val counts = ShardCounts(
      open.toLong,
      batches.closedShards,
      (unfinished - open).toLong,
      frontiers.size.toLong
    )
    report(frontiers, counts, coordinator.longestSilence, now)
  }
}
