package sparkkinesis.source.realtime

import scala.concurrent.duration._

import org.slf4j.LoggerFactory

import sparkkinesis.client.Clock
import sparkkinesis.model.StreamShard
import sparkkinesis.source.protocol._

/**
 * Tells the fetch service of an executor what its tasks read, and the driver how far they are. One
 * thread at a time asks it.
 */
private[sparkkinesis] final class RealTimeLink(
    shards: RealTimeShards,
    driver: HeartbeatLink,
    clock: Clock
) extends HeartbeatLink {
  import RealTimeLink._

  private val log = LoggerFactory.getLogger(classOf[RealTimeLink])
  private var askedAt = Option.empty[Long]
  private var answeredAt = clock.elapsedMillis
  private var told = News(Set.empty, None, None)

  override def heartbeat(status: Heartbeat): HeartbeatReply = {
    shards.tick()
    if (shards.closeIfUnused()) HeartbeatReply(status.knownVersion, isStopped = true, None)
    else {
      val (version, plan) = shards.plan(status.knownVersion)
      // A driver that does not answer must not delay a new plan.
      val isStopped = plan.isEmpty && askDriver(status).exists(_.isStopped)
      HeartbeatReply(version, isStopped, plan)
    }
  }

  private def askDriver(status: Heartbeat): Option[HeartbeatReply] = {
    val ended = shards.ended
    // The failure of a parked shard matters when a task needs the shard again.
    val failure = status.failure.filter(it => shards.isActive(it.shard))
    val news = News(ended.keySet, failure, status.crash)
    val now = clock.elapsedMillis
    if (askedAt.forall(now - _ >= Period.toMillis) || news != told) {
      askedAt = Some(now)
      val report = status.copy(
        reports = Vector.empty,
        failure = failure,
        shards = shards.states,
        ended = ended
      )
      val reply = answer(report)
      reply.foreach { it =>
        told = news
        shards.end(it.endedBatch)
        shards.giveUp(it.elsewhere)
        shards.foundClosed(it.closed)
      }
      reply
    } else None
  }

  private def answer(report: Heartbeat): Option[HeartbeatReply] =
    try {
      val reply = driver.heartbeat(report)
      answeredAt = clock.elapsedMillis
      Some(reply)
    } catch {
      case gone: QueryGone => throw gone
      case interrupt: InterruptedException => throw interrupt
      case e: Exception =>
        log.debug(s"The driver did not answer: ${e.getMessage}")
        if (clock.elapsedMillis - answeredAt > Patience.toMillis)
          throw new QueryGone(s"The driver did not answer for $Patience.")
        None
    }
}

private object RealTimeLink {
  private val Period = 200.millis

  /** Longer than a pause of the driver for garbage collection. */
  private val Patience = 60.seconds

  /** What the driver should hear at once. */
  private final case class News(
      ended: Set[StreamShard],
      failure: Option[FetchFailure],
      crash: Option[String]
  )
}
