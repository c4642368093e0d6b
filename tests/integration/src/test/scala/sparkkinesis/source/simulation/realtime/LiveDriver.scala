package sparkkinesis.source.simulation.realtime

import scala.collection.mutable
import scala.concurrent.duration.FiniteDuration

import sparkkinesis.model.StreamArn
import sparkkinesis.model.offset.SourceOffset
import sparkkinesis.source.StreamClient
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.protocol.{CoordinatorGone, ReadLimits}
import sparkkinesis.source.realtime._
import sparkkinesis.source.simulation.{SimulatedDriver, World}
import sparkkinesis.spark.read.realtime.RealTimePartition

/**
 * The driver of a query in real-time mode, from its start to its end.
 *
 * @param named number of streams that the query names
 * @param slots of all executors
 */
final class LiveDriver(world: World, named: Int, slots: () => Int) {
  import world._

  private val run = new SimulatedDriver(world, named, hasStopTime = false)
  private val most = Option.when(random.nextInt(4) == 0)(1 + random.nextInt(3)) // `maxPartitions`
  private val late = mutable.ArrayBuffer.empty[LiveStatus] // sent while the driver was suspended
  private var isSuspended = false
  private var isClosing = false
  private var isClosed = false
  val coordinator =
    new LiveCoordinator(LiveBatches.Patience, () => isClosing || batches.hasMoreSlots)
  private val batches: LiveBatches =
    new LiveBatches("orders", coordinator, _ => most.fold(slots())(math.min(slots(), _)), clock)

  /** As `LiveReads` changes them, without the options that real-time mode refuses. */
  val settings: FetchSettings =
    run.settings.copy(limits = ReadLimits.None, maxShardSkew = None, spillBytes = 0)

  def clients: Map[StreamArn, StreamClient] = run.clients

  def begin(): SourceOffset = run.begin()

  def check(from: SourceOffset): Unit = calmly(run.streams.check(from))

  def withJoined(from: SourceOffset): SourceOffset = calmly(run.streams.withJoined(from))

  def confirmationPeriod: FiniteDuration = calmly(run.streams.confirmationPeriod)

  /** The tasks of a batch, or none if the query fails before it. */
  def partitions(from: SourceOffset): Option[Vector[RealTimePartition]] = {
    check(from)
    run.look(from)
    Option.when(coordinator.failure.isEmpty) {
      val batch = batches.batch(from, endsAtOnce = withJoined(from) ne from)
      require(batches.batch(from, endsAtOnce = false) eq batch, "planned twice")
      batch.tasks.map { starts =>
        val place = starts.headOption.flatMap(start => coordinator.location(start.shard))
        RealTimePartition(batch.number, starts, place.map(_._2).toSeq)
      }
    }
  }

  def end(ends: Seq[TaskEnd]): SourceOffset =
    run.repaired(batches.end(ends, withJoined(_), confirmationPeriod))

  /** Answers an executor. */
  def ask(status: LiveStatus): LiveReply =
    if (isClosed) throw new CoordinatorGone("The query has ended.")
    else if (isSuspended) {
      late += status
      noAnswer()
    } else {
      val reply = coordinator.answer(status)
      if (isCalm || random.nextInt(10) > 0) reply else noAnswer()
    }

  private def noAnswer() = throw new IllegalStateException("There is no answer.")

  def isRunning: Boolean = !isSuspended

  def suspend(): Unit = isSuspended = true

  /** Some messages arrive late, and nobody waits for their answers any more. */
  def resume(): Unit = {
    isSuspended = false
    late.filter(_ => random.nextBoolean()).foreach(coordinator.answer(_))
    late.clear()
  }

  /** A planned stop: the batch ends, and no other one begins. */
  def requestStop(): Unit = isClosing = true

  def stop(): Unit = coordinator.stop()

  /** The query has ended, and executors notice. */
  def close(): Unit = isClosed = true
}
