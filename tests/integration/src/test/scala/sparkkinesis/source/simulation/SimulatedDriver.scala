package sparkkinesis.source.simulation

import scala.concurrent.duration._

import sparkkinesis.model.StreamArn
import sparkkinesis.model.offset.SourceOffset
import sparkkinesis.source.StreamClient
import sparkkinesis.source.checkpoint.{QueryStreams, StreamCheck}
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.plan.FetchCoordinator
import sparkkinesis.source.protocol.ReadLimits
import sparkkinesis.source.watch.StreamWatch

/**
 * One life of a query's driver.
 *
 * @param named how many streams the query names
 * @param hasStopTime whether it runs with `Trigger.AvailableNow`
 */
final class SimulatedDriver(world: World, named: Int, hasStopTime: Boolean) {
  import world._

  private val options = world.options(named)
  private val reached = options.streams.map(access => access -> StreamClient(access.ref, kinesis))
  val coordinator = new FetchCoordinator(10.seconds)
  val streams = new QueryStreams(
    options,
    reached.map { case (access, client) => access -> checked(client) }
  )

  /** How executors reach each stream. */
  lazy val clients: Map[StreamArn, StreamClient] =
    calmly(streams.access).transform((_, access) => StreamClient(access.ref, kinesis))

  private lazy val watches = clients.transform { (_, client) =>
    new StreamWatch(client, options.failOnDataLoss, DiscoveryInterval, () => 0.5)
  }
  private var nextLooks = Map.empty[StreamArn, java.time.Instant]

  val settings: FetchSettings = options.fetch.copy(
    stopAtMillis = Option.when(hasStopTime)(calmly(streams.now().toEpochMilli))
  )
  // What arrives in the same millisecond as the question may or may not be read.
  clock.advance(1.milli)

  def limits: ReadLimits = settings.limits

  /** Of a new query. */
  def begin(): SourceOffset = streams.begin()

  /** @throws SourceException where a shard would be lost */
  def look(from: SourceOffset): Unit = from.streams.foreach { case (arn, known) =>
    val watch = watches(arn)
    watch.advance(known)
    if (nextLooks.get(arn).forall(!clock.now.isBefore(_)))
      nextLooks += arn -> clock.now.plusMillis(watch.inspect(clock.now).toMillis)
    watch.check()
  }

  /** Shards that were taken up though nobody had looked after them. */
  def lostRanges: Long = watches.values.map(_.lostRanges).sum

  def repaired(end: SourceOffset): SourceOffset =
    end.transform((arn, known) => watches(arn).repair(known))

  private def checked(client: StreamClient) =
    new StreamCheck(
      client,
      options.queryStart(client.ref),
      options.failOnDataLoss,
      clock,
      () => random.nextDouble()
    )

  private def DiscoveryInterval = 3.seconds
}
