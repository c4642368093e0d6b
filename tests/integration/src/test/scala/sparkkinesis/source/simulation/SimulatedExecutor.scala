package sparkkinesis.source.simulation

import scala.collection.mutable
import scala.concurrent.duration._
import scala.util.Random

import sparkkinesis.model.StreamArn
import sparkkinesis.simulator.service.SimulatedClock
import sparkkinesis.source.StreamClient
import sparkkinesis.source.fetch.{FetchStep, PageBuffer, ShardFetcher, ShardFetchers}
import sparkkinesis.source.memory.FetchMemory
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.plan.FetchCoordinator
import sparkkinesis.source.protocol.{Assignment, FetchCounters, FetchReport, FetchStatus}

/**
 * The fetch service without threads. The seed decides the order of its steps.
 *
 * @param isCalm whether every message arrives; else some are lost
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
  val buffer = new PageBuffer(new FetchMemory().join(settings.bufferBytes))
  private val fetchers: ShardFetchers = new ShardFetchers(buffer, fetcher)
  private val unsent = mutable.ArrayBuffer.empty[FetchReport]
  private var known = 0L

  override def toString: String =
    s"$id (${buffer.bytes} B of ${buffer.shards}: ${fetchers.all.map(_.shard)})"

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
      buffer.bytes <= settings.bufferBytes + LargestPage,
      s"$this of ${settings.bufferBytes} B"
    )
  }

  /** Fifty records of a few bytes: an empty buffer accepts a page of any size. */
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
    // If the answer is lost, the executor sends the same reports again.
    val reply = coordinator.heartbeat(status, clock.now)
    if (isCalm() || random.nextInt(10) > 0) {
      unsent.clear()
      known = reply.version
      reply.plan.foreach(fetchers(_))
    }
  }
}
