package sparkkinesis.source.simulation.realtime

import scala.collection.mutable

import sparkkinesis.model.StreamArn
import sparkkinesis.model.offset.SourceOffset
import sparkkinesis.shard.StreamClient
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.protocol.{Heartbeat, HeartbeatReply, QueryGone, ReadLimits}
import sparkkinesis.source.query.{Answer, RealTimeQuery}
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

  private val most = Option.when(random.nextInt(4) == 0)(1 + random.nextInt(3)) // `maxPartitions`
  private val run = new SimulatedDriver[RealTimeQuery](
    world,
    named,
    hasStopTime = false,
    (options, streams) => new RealTimeQuery(options.copy(maxPartitions = most), streams)
  )
  private val late =
    mutable.ArrayBuffer.empty[Heartbeat] // sent while the driver was suspended
  private var isSuspended = false
  private var isClosing = false
  private var isClosed = false

  /** As `RealTimeReads` changes them, without the options that real-time mode refuses. */
  val settings: FetchSettings =
    run.settings.copy(limits = ReadLimits.None, maxShardSkew = None, spillBytes = 0)

  def clients: Map[StreamArn, StreamClient] = run.clients

  def begin(): SourceOffset = run.begin()

  /** The tasks of a batch. */
  def began(from: SourceOffset): Answer[Vector[RealTimePartition]] = {
    lookAround()
    run.tell(_.began(from, _)) match {
      case Answer.Ready(batch) =>
        val again = run.tell(_.began(from, _))
        require(again == Answer.Ready(batch), s"planned twice: $batch and $again")
        Answer.Ready(batch.tasks.map { starts =>
          RealTimePartition(batch.number, starts, run.query.place(starts).map(_._2).toSeq)
        })
      case wait: Answer.Wait => wait
      case failed: Answer.Fail => failed
    }
  }

  def finishCalls(): Unit = run.finishCalls()

  def ended(ends: Seq[TaskEnd]): SourceOffset = run.tell(_.ended(ends, _))

  def lost(executor: String): Unit = run.tell((it, _) => it.lost(executor))

  def work(): Unit = {
    lookAround()
    run.work()
  }

  private def lookAround(): Unit =
    run.tell((it, now) => it.around(slots(), isClosing, it.lastBatch, now))

  /** Answers an executor. */
  def ask(status: Heartbeat): HeartbeatReply =
    if (isClosed) throw new QueryGone("The query has ended.")
    else if (isSuspended) {
      late += status
      noAnswer()
    } else {
      val reply = heard(status)
      if (isCalm || random.nextInt(10) > 0) reply else noAnswer()
    }

  private def heard(status: Heartbeat): HeartbeatReply = run.tell((it, _) => it.heard(status))

  private def noAnswer() = throw new IllegalStateException("There is no answer.")

  def isRunning: Boolean = !isSuspended

  def suspend(): Unit = isSuspended = true

  /** Some messages arrive late, and nobody waits for their answers any more. */
  def resume(): Unit = {
    isSuspended = false
    late.filter(_ => random.nextBoolean()).foreach(heard(_))
    late.clear()
  }

  /** A planned stop: the batch ends, and no other one begins. */
  def requestStop(): Unit = isClosing = true

  def stop(): Unit = run.tell((it, _) => it.stop())

  /** The query has ended, and executors notice. */
  def close(): Unit = isClosed = true
}
