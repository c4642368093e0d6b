package sparkkinesis.source.simulation

import scala.collection.mutable
import scala.concurrent.duration._

import sparkkinesis.model.StreamShard
import sparkkinesis.source.plan.ExecutorTable
import sparkkinesis.source.protocol.{FetchReply, FetchStatus}

/** The executors of a driver, and their messages to it. At first there is one. */
final class SimulatedCluster(world: World, run: SimulatedDriver) {
  import world._

  private val executors = mutable.SortedMap.empty[String, SimulatedExecutor]
  private var started = 0
  private var isSuspended = false
  private var tickedAt = clock.now
  private val waiting = mutable.ArrayBuffer.empty[FetchStatus] // while the driver is suspended
  add()

  override def toString: String = executors.values.mkString(", ")

  def add(): Unit = if (executors.size < 3) {
    started += 1
    val id = s"executor-$started"
    executors.update(id, new SimulatedExecutor(id, world, run.settings, run.clients, send))
  }

  def lose(): Unit = executors.keys.headOption.foreach { id =>
    executors.remove(id)
    // The driver finds out at once, or by the missing heartbeats.
    if (random.nextBoolean()) run.coordinator.executorLost(id)
    if (executors.isEmpty) add()
  }

  def work(): Unit = executors.values.foreach(_.work())

  /** Usually the executor that reads the shard ahead. */
  def any(shard: StreamShard): SimulatedExecutor = {
    val preferred = run.coordinator.location(shard).map(_._2).flatMap(executors.get)
    val all = executors.values.toVector
    if (random.nextInt(5) == 0) all(random.nextInt(all.size)) else preferred.getOrElse(all.head)
  }

  /** The driver's process does not run for up to a minute. That takes no shard from an executor. */
  def suspendDriver(): Unit = {
    executors.values.foreach(_.heartbeat())
    isSuspended = true
    for (_ <- 0 until 1 + hardships.nextInt(6)) {
      clock.advance(10.seconds)
      work()
    }
    isSuspended = false
    // Some messages arrive late, and nobody waits for their answers any more.
    waiting.filter(_ => hardships.nextBoolean()).foreach(run.coordinator.answer(_))
    waiting.clear()
    passTime()
    val live = run.coordinator.live
    require(executors.keySet.forall(live), s"a pause of the driver took shards: $live of $this")
  }

  /** After a pause of the process, or of the whole world, the driver has few ticks. */
  private def passTime(): Unit = {
    val passed = (clock.now.toEpochMilli - tickedAt.toEpochMilli) / ExecutorTable.Tick.toMillis
    if (passed > 0) tickedAt = clock.now
    (1L to math.min(2, passed)).foreach(_ => run.coordinator.tick())
  }

  /** @return `None` if there is no answer: the executor sends the same reports again */
  private def send(status: FetchStatus): Option[FetchReply] =
    if (isSuspended) {
      waiting += status
      None
    } else {
      passTime()
      val reply = run.coordinator.answer(status)
      Option.when(isCalm || random.nextInt(10) > 0)(reply)
    }
}
