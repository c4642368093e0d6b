package sparkkinesis.source.simulation

import scala.collection.mutable
import scala.concurrent.duration._
import scala.util.Random

import sparkkinesis.model.StreamArn
import sparkkinesis.simulator.service.SimulatedClock
import sparkkinesis.source.StreamClient
import sparkkinesis.source.fetch.{FetchStep, ShardFetcher, ShardFetchers}
import sparkkinesis.source.memory.FetchMemory
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.plan.FetchCoordinator
import sparkkinesis.source.protocol.{Assignment, FetchCounters, FetchReport, FetchStatus}
import sparkkinesis.source.store.{PageStore, SpillSpace}

/**
 * The fetch service without threads. The seed decides the order of its steps.
 *
 * @param disk for pages that memory has no room for
 * @param isCalm whether every message arrives; else some are lost
 */
final class SimulatedExecutor(
    id: String,
    streams: Map[StreamArn, StreamClient],
    coordinator: FetchCoordinator,
    settings: FetchSettings,
    clock: SimulatedClock,
    random: Random,
    disk: SpillSpace,
    isCalm: () => Boolean
) {
  private val memoryBytes = settings.bufferBytes.getOrElse(0L)
  val store = new PageStore(new FetchMemory().join(memoryBytes), settings.spillBytes, disk)
  private val fetchers: ShardFetchers = new ShardFetchers(store, fetcher)
  private val unsent = mutable.ArrayBuffer.empty[FetchReport]
  private var known = 0L

  override def toString: String =
    s"$id (${store.bytes} B of ${store.shards}: ${fetchers.all.map(_.shard)})"

  /** @throws SourceException or a `KinesisException` if a fetcher fails for good */
  def work(): Unit = {
    heartbeat()
    random.shuffle(fetchers.all).foreach { fetcher =>
      clock.advance(random.nextInt(100).millis)
      fetcher.step(clock.moment) match {
        case FetchStep.Fetched(report, _, _, _) => unsent += report
        case FetchStep.Fails(cause) => throw cause
        case FetchStep.Loses(loss) => throw loss
        case _ =>
      }
    }
    if (random.nextBoolean()) heartbeat()
    require(
      store.bytes <= memoryBytes + LargestPage && store.spilledBytes <= settings.spillBytes,
      s"$this of $memoryBytes B, ${store.spilledBytes} B on disk of ${settings.spillBytes} B"
    )
  }

  /** Fifty records of a few bytes: an empty store accepts a page of any size. */
  private val LargestPage = 50L * 1000

  private def fetcher(assignment: Assignment): ShardFetcher = new ShardFetcher(
    streams(assignment.shard.stream),
    assignment,
    store,
    settings,
    () => fetchers.size,
    () => random.nextDouble()
  )

  private def heartbeat(): Unit = {
    val status = FetchStatus(id, "localhost", unsent.toVector, FetchCounters.Zero, None, known)
    // If the answer is lost, the executor sends the same reports again.
    val reply = coordinator.heartbeat(status, clock.now)
    if (isCalm() || random.nextInt(10) > 0) {
      unsent.clear()
      known = reply.version
      reply.plan.foreach(fetchers(_))
    }
  }
}
