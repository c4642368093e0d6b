package sparkkinesis.spark.read

import scala.annotation.tailrec
import scala.concurrent.duration._

import org.slf4j.LoggerFactory

import sparkkinesis.client.Clock
import sparkkinesis.model.StreamShard
import sparkkinesis.source.plan.{BacklogWait, BatchCost, FetchCoordinator, StoreCeiling}
import sparkkinesis.source.protocol.{FetchCounters, Frontier, ReadLimits}

/**
 * Decides when a batch begins. At the tip of the shards it begins at once. Behind the tip it waits
 * for more records, so that Spark's cost per batch is a small part. Only the query's thread uses
 * it.
 *
 * @param streams names for messages
 * @param check throws if the query has failed meanwhile
 */
private[spark] final class BatchTiming(
    streams: String,
    coordinator: FetchCoordinator,
    clock: Clock,
    check: () => Unit
) {
  import BatchTiming._

  private val log = LoggerFactory.getLogger(classOf[BatchTiming])
  private val ceiling = new StoreCeiling(streams)
  private val cost = new BatchCost

  /** How far executors have read ahead when a batch should begin. */
  def frontiers(limits: ReadLimits): Map[StreamShard, Frontier] = {
    val begin = now
    ceiling.asked(begin, stores.fullStores).foreach(log.warn)
    @tailrec def awaitMore(found: Map[StreamShard, Frontier]): Map[StreamShard, Frontier] = {
      val left = cost.nextAt(begin).fold(Duration.Zero)(_ - now)
      if (BacklogWait.isWorth(found, limits, stores, now - begin, left)) {
        awaitNews()
        check()
        awaitMore(coordinator.frontiers)
      } else found
    }
    val found = awaitMore(coordinator.frontiers)
    waitEnd.set(now)
    found
  }

  /** The end of a batch was found. */
  def found(): Unit = cost.found(now)

  /** The tasks of a batch are being planned. */
  def planned(): Unit = {
    ceiling.planned(now)
    cost.planned(now, waitEnd.get)
  }

  /** The batch is done. */
  def done(): Unit = cost.done(now)

  /** Waits up to 100 ms for a report of an executor. */
  def awaitNews(): Unit = coordinator.awaitNews(NewsWait)

  private def stores: FetchCounters = coordinator.counters

  private def now: FiniteDuration = clock.elapsedMillis.millis
}

private[read] object BatchTiming {
  val NewsWait: FiniteDuration = 100.millis

  /** When the last wait in this thread ended. Spark has one thread for all sources of a query. */
  private val waitEnd = ThreadLocal.withInitial[FiniteDuration](() => Duration.Zero)
}
