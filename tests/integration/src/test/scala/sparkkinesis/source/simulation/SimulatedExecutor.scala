package sparkkinesis.source.simulation

import scala.collection.mutable
import scala.concurrent.duration._

import sparkkinesis.client.KinesisException
import sparkkinesis.model.StreamArn
import sparkkinesis.source.StreamClient
import sparkkinesis.source.feed.{FetchStep, ReadStep}
import sparkkinesis.source.fetch.{ShardFetcher, ShardFetchers}
import sparkkinesis.source.memory.FetchMemory
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.protocol._
import sparkkinesis.source.store.PageStore

/**
 * The fetch service without threads. The seed decides the order of its steps.
 *
 * @param send a status to the driver; without an answer, its reports are sent again
 * @param onReport called with each page that was read
 * @param onFailure called with a fetcher that fails for good
 */
final class SimulatedExecutor(
    id: String,
    world: World,
    settings: FetchSettings,
    clients: Map[StreamArn, StreamClient],
    send: FetchStatus => Option[FetchReply],
    onReport: FetchReport => Unit = _ => (),
    onFailure: (ShardFetcher, KinesisException) => Unit = (_, cause) => throw cause
) {
  import world._

  private val memoryBytes = settings.bufferBytes.getOrElse(0L)
  val store = new PageStore(new FetchMemory().join(memoryBytes), settings.spillBytes, newDisk())
  private val fetchers: ShardFetchers = new ShardFetchers(store, fetcher)
  private val unsent = mutable.ArrayBuffer.empty[FetchReport]
  private var known = 0L

  override def toString: String =
    s"$id (${store.bytes} B of ${store.shards}: ${fetchers.all.map(_.age)})"

  /** @throws SourceException or a `KinesisException` if a fetcher fails for good */
  def work(): Unit = {
    heartbeat()
    random.shuffle(fetchers.all).foreach { fetcher =>
      clock.advance(random.nextInt(100).millis)
      push()
      fetcher.step(clock.moment) match {
        case FetchStep.Fetched(report, _, _, _) =>
          onReport(report)
          unsent += report
        case ReadStep.Fails(cause) => onFailure(fetcher, cause)
        case ReadStep.Loses(loss) => throw loss
        case _ =>
      }
    }
    if (random.nextBoolean()) heartbeat()
    require(
      store.bytes <= memoryBytes + largestPage && store.spilledBytes <= settings.spillBytes,
      s"$this of $memoryBytes B, ${store.spilledBytes} B on disk of ${settings.spillBytes} B"
    )
  }

  private def fetcher(assignment: Assignment): ShardFetcher = new ShardFetcher(
    clients(assignment.shard.stream),
    assignment,
    store,
    settings,
    () => fetchers.size,
    () => random.nextDouble(),
    fetchers.isOldest
  )

  def heartbeat(): Unit =
    send(FetchStatus(id, "localhost", unsent.toVector, FetchCounters.Zero, None, known)).foreach {
      reply =>
        unsent.clear()
        known = reply.version
        reply.plan.foreach(fetchers(_))
    }
}
