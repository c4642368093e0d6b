package sparkkinesis.source.simulation

import scala.collection.mutable
import scala.concurrent.duration._
import scala.util.Random

import sparkkinesis.model.StreamArn
import sparkkinesis.simulator.service.SimulatedClock
import sparkkinesis.source.StreamClient
import sparkkinesis.source.fetch.{FetchStep, PageBuffer, ShardFetcher, ShardFetchers}
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.plan.FetchCoordinator
import sparkkinesis.source.protocol.{Assignment, FetchCounters, FetchReport, FetchStatus}

/**
 * The fetch service without its threads: each piece of work happens in the order the seed says.
 *
 * @param isCalm whether every message arrives
 */
final class SimulatedExecutor(
    id: String,
    streams: Map[StreamArn, StreamClient],
    coordinator: FetchCoordinator,
    settings: FetchSettings,
    clock: SimulatedClock,
    random: Random,
    isCalm: () => Boolean
) {
  val buffer = new PageBuffer(settings.bufferBytes)
  private val fetchers: ShardFetchers = new ShardFetchers(buffer, fetcher)
  private val unsent = mutable.ArrayBuffer.empty[FetchReport]
  private var known = 0L

  override def toString: String =
    s"$id (${buffer.bytes} B of ${buffer.shards}: ${fetchers.all.map(_.shard)})"

  /** @throws SourceException or a `KinesisException` where a fetcher gives up */
  def work(): Unit = {
    heartbeat()
    random.shuffle(fetchers.all).foreach { fetcher =>
      clock.advance(random.nextInt(100).millis)
      fetcher.step(clock.now) match {
        case FetchStep.Fetched(report, _, _, _) => unsent += report
        case FetchStep.Fails(cause) => throw cause
        case FetchStep.Loses(loss) => throw loss
        case _ =>
      }
    }
    if (random.nextBoolean()) heartbeat()
    require(
      buffer.bytes <= settings.bufferBytes + LargestPage,
      s"$this of ${settings.bufferBytes} B"
    )
  }

  /** Fifty records of a few bytes each: one page is let in whatever its size. */
  private val LargestPage = 50L * 1000

  private def fetcher(assignment: Assignment): ShardFetcher = new ShardFetcher(
    streams(assignment.shard.stream),
    assignment,
    buffer,
    settings,
    () => fetchers.size,
    () => random.nextDouble()
  )

  private def heartbeat(): Unit = {
    val status = FetchStatus(id, "localhost", unsent.toVector, FetchCounters.Zero, None, known)
    // The driver may hear it and the executor not learn so: then it says it again.
    val reply = coordinator.heartbeat(status, clock.now)
    if (isCalm() || random.nextInt(10) > 0) {
      unsent.clear()
      known = reply.version
      reply.plan.foreach(fetchers(_))
    }
  }
}
