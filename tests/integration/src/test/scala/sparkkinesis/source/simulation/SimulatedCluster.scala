package sparkkinesis.source.simulation

import scala.collection.mutable
import scala.concurrent.duration._

import sparkkinesis.model.StreamShard
import sparkkinesis.source.protocol.{Heartbeat, HeartbeatReply}
import sparkkinesis.source.query.MicroBatchQuery

/** The executors of a driver, and their messages to it. At first there is one. */
final class SimulatedCluster(world: World, run: SimulatedDriver[MicroBatchQuery]) {
  import world._

  private val executors = mutable.SortedMap.empty[String, SimulatedExecutor]
  private var number = 0
  private var services = 0
  private val started = mutable.Set.empty[String] // executors that have a service
  private var isSuspended = false
  private val waiting = mutable.ArrayBuffer.empty[Heartbeat] // while the driver is suspended
  add()

  override def toString: String = executors.values.mkString(", ")

  def add(): Unit = if (executors.size < 3) {
    number += 1
    val id = s"executor-$number"
    executors.update(id, newService(id))
  }

  private def newService(id: String) = {
    services += 1
    new SimulatedExecutor(id, s"service-$services", world, run.settings, run.clients, send)
  }

  /** IDs and hosts. */
  def all: Map[String, String] = executors.keySet.map(_ -> "localhost").toMap

  /** A job starts services, on other executors than those if they are gone or busy. */
  def start(wanted: Set[String]): Unit = {
    val found = executors.filter { case (id, _) => wanted(id) && random.nextInt(10) > 0 }
    (if (found.isEmpty) executors.take(1) else found).foreach { case (id, _) => started += id }
  }

  def lose(): Unit = executors.keys.headOption.foreach { id =>
    executors.remove(id)
    // The driver finds out at once, or by the missing heartbeats.
    if (random.nextBoolean()) run.tell((it, _) => it.lost(id))
    if (executors.isEmpty) add()
  }

  def work(): Unit = {
    if (!isSuspended) run.work()
    running.foreach(_.work())
    // A service ends if the driver does not answer for long.
    for ((id, executor) <- executors.toVector if executor.hasFinished) {
      executors.update(id, newService(id))
      started -= id
    }
  }

  private def running = executors.collect { case (id, it) if started(id) => it }

  /** Usually the executor that reads the shard ahead. */
  def any(shard: StreamShard): SimulatedExecutor = {
    val all = executors.keys.toVector
    val preferred = run.query.reader(shard).filter(executors.contains).getOrElse(all.head)
    val id = if (random.nextInt(5) == 0) all(random.nextInt(all.size)) else preferred
    started += id // a task starts the service of its executor
    executors(id)
  }

  /** The driver's process does not run for up to a minute. That takes no shard from an executor. */
  def suspendDriver(): Unit = {
    run.work()
    running.foreach(_.heartbeat())
    val before = run.query.executors.live.intersect(executors.keySet)
    isSuspended = true
    for (_ <- 0 until 1 + hardships.nextInt(6)) {
      clock.advance(10.seconds)
      work()
    }
    isSuspended = false
    // Some messages arrive late, and nobody waits for their answers any more.
    waiting.filter(_ => hardships.nextBoolean()).foreach(heard)
    waiting.clear()
    run.work()
    val live = run.query.executors.live
    require(before.forall(live), s"a pause of the driver took shards: $live of $this")
  }

  private def heard(status: Heartbeat) = run.tell((it, _) => it.heard(status))

  /** @return `None` if there is no answer: the executor sends the same reports again */
  private def send(status: Heartbeat): Option[HeartbeatReply] =
    if (isSuspended) {
      waiting += status
      None
    } else {
      val reply = heard(status)
      Option.when(isCalm || random.nextInt(10) > 0)(reply)
    }
}
