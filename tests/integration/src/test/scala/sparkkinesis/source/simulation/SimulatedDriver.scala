package sparkkinesis.source.simulation

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.client.Clock
import sparkkinesis.model.StreamArn
import sparkkinesis.model.offset.SourceOffset
import sparkkinesis.source.StreamClient
import sparkkinesis.source.checkpoint.{QueryStream, QueryStreams}
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.pace.SharedReads
import sparkkinesis.source.plan.FetchCoordinator
import sparkkinesis.source.protocol.ReadLimits
import sparkkinesis.source.watch.StreamWatch

/**
 * The driver of a query, from its start to its end.
 *
 * @param named number of streams that the query names
 * @param hasStopTime whether the trigger is `Trigger.AvailableNow`
 */
final class SimulatedDriver(world: World, named: Int, hasStopTime: Boolean) {
  import world._

  private var isStopping = false

  /** While a run waits after its stop time was chosen, producers write. */
  private val busyClock = new Clock {
    override def now: Instant = clock.now

    override def sleep(duration: FiniteDuration): Unit = {
      if (isStopping) for (_ <- 0 until random.nextInt(4)) {
        calmly(producer.actAtRandom())
        clock.advance(duration / 8)
      }
      clock.sleep(duration)
    }
  }
  private val options = world.options(named)
  val coordinator = new FetchCoordinator(10.seconds, options.fetch.joinedMark)
  val streams = new QueryStreams(
    options,
    options.streams.map { access =>
      val start = options.queryStart(access.ref)
      new QueryStream(access, kinesis, start, busyClock, () => random.nextDouble())
    }
  )

  /** The client of each stream. */
  lazy val clients: Map[StreamArn, StreamClient] =
    calmly(streams.access).transform { (arn, access) =>
      StreamClient(access.ref, client, new SharedReads(isAws), consumers.get(arn))
    }

  private lazy val watches = clients.transform { (_, client) =>
    new StreamWatch(client, options.failOnDataLoss, DiscoveryInterval, () => 0.5)
  }
  private var nextLooks = Map.empty[StreamArn, Instant]

  isStopping = true
  val settings: FetchSettings = options.fetch.copy(
    stopAtMillis = Option.when(hasStopTime)(calmly(streams.stopTime().toEpochMilli))
  )
  isStopping = false

  def limits: ReadLimits = settings.limits

  /** The first offset of a new query. */
  def begin(): SourceOffset = streams.firstOffset()

  /** @throws SourceException if no batch would ever read some shard */
  def look(from: SourceOffset): Unit = from.streams.foreach { case (arn, known) =>
    val watch = watches(arn)
    watch.advance(known)
    if (nextLooks.get(arn).forall(!clock.now.isBefore(_)))
      nextLooks += arn -> clock.now.plusMillis(watch.inspect(clock.now).toMillis)
    watch.check()
  }

  /** Shards that the watch added because no batch would have read them. */
  def lostRanges: Long = watches.values.map(_.lostRanges).sum

  def repaired(end: SourceOffset): SourceOffset =
    end.transform((arn, known) => watches(arn).repair(known))

  private def DiscoveryInterval = 3.seconds
}
