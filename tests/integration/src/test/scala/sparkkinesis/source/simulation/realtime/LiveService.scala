package sparkkinesis.source.simulation.realtime

import sparkkinesis.model.StreamShard
import sparkkinesis.model.offset.Progress
import sparkkinesis.source.protocol._
import sparkkinesis.source.realtime.{RealTimeLink, RealTimeShards}
import sparkkinesis.source.simulation.{SimulatedExecutor, World}
import sparkkinesis.source.store.PageStore
import sparkkinesis.spark.read.realtime.RealTimePages

/** The service of an executor that reads shards for tasks in real-time mode, without threads. */
final class LiveService(executor: String, number: Int, world: World, driver: LiveDriver)
    extends RealTimePages {
  override val shards = new RealTimeShards(world.clock)
  private val link = new RealTimeLink(shards, driver.ask(_), world.clock)
  private var failure = Option.empty[FetchFailure]
  private val reader = new SimulatedExecutor(
    executor,
    s"$executor/$number",
    world,
    driver.settings,
    driver.clients,
    send(_),
    shards.report(_)
  )
  override def store: PageStore = reader.store
  override def drop(shard: StreamShard, upTo: Progress): Unit = store.dropUpTo(shard, upTo)
  override def countReread(): Unit = ()
  override def hurry(): Unit = if (world.random.nextBoolean()) reader.heartbeat()

  def isRunning: Boolean = !shards.hasClosed

  def work(): Unit = if (isRunning) reader.work()

  /** One of its shards cannot be read any more. */
  def failForGood(): Unit = assignments.headOption.foreach { it =>
    val message = "A failure of the test."
    failure = Some(FetchFailure(LiveService.Refusal, message, it.shard, it.generation))
  }

  private def assignments = shards.plan(0)._2.toSeq.flatMap(_.assignments)

  /** Unless the shard was assigned again. */
  private def currentFailure = failure.filter { it =>
    assignments.exists(a => a.shard == it.shard && a.generation == it.generation)
  }

  override def toString: String = s"service $number of $reader with ${shards.states}"

  private def send(status: Heartbeat): Option[HeartbeatReply] =
    try {
      val reply = link.heartbeat(status.copy(failure = status.failure.orElse(currentFailure)))
      if (reply.isStopped) close()
      Some(reply).filterNot(_.isStopped)
    } catch {
      case _: QueryGone =>
        close()
        None
    }

  private def close(): Unit = {
    shards.close()
    store.close()
  }
}

object LiveService {

  /** The condition of a failure that the test causes. */
  val Refusal = "KINESIS_ACCESS_DENIED"
}
