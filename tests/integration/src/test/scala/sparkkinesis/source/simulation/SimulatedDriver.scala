package sparkkinesis.source.simulation

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.client.{Clock, Moment}
import sparkkinesis.model.StreamArn
import sparkkinesis.model.offset.SourceOffset
import sparkkinesis.shard.StreamClient
import sparkkinesis.shard.pace.SharedReads
import sparkkinesis.source.checkpoint.QueryStream
import sparkkinesis.source.options.{FetchSettings, SourceOptions}
import sparkkinesis.source.plan.ExecutorTable
import sparkkinesis.source.query._

/**
 * The driver's process of a query, from its start to its end: the time of its decisions, and their
 * calls.
 *
 * @param named number of streams that the query names
 * @param hasStopTime whether the trigger is `Trigger.AvailableNow`
 * @param spark receives the commands that Spark carries out
 */
final class SimulatedDriver[Q <: SourceQuery](
    world: World,
    named: Int,
    hasStopTime: Boolean,
    newQuery: (SourceOptions, QueryStreams) => Q,
    spark: Command => Unit = _ => ()
) {
  import world._

  /** While a run waits after its stop time was chosen, producers write. */
  private val stoppingClock = new Clock {
    override def now: Instant = clock.now
    override def chance(): Double = clock.chance()

    override def sleep(duration: FiniteDuration): Unit = {
      for (_ <- 0 until random.nextInt(4)) {
        calmly(producer.actAtRandom())
        clock.advance(duration / 8)
      }
      clock.sleep(duration)
    }
  }
  private val choices = world.options(named)

  private def streamsWith(clock: Clock) = choices.streams.map { access =>
    val start = choices.queryStart(access.ref)
    new QueryStream(access, kinesis, start, clock)
  }
  private val streams = streamsWith(clock)
  private val stopAtMillis = Option.when(hasStopTime)(calmly {
    QueryStream.stopTime(streamsWith(stoppingClock)).toEpochMilli
  })
  private val options = choices.copy(fetch = choices.fetch.copy(stopAtMillis = stopAtMillis))
  private val described = calmly(streams.map(_.describe()))
  val query: Q = newQuery(options, new QueryStreams(options, described, () => 0.5))
  private val calls =
    new SimulatedCalls(world, query, described.map(_.arn).zip(streams).toMap, spark)
  private var tickedAt = clock.now

  def settings: FetchSettings = options.fetch

  /** The client of each stream that the query reads. */
  def clients: Map[StreamArn, StreamClient] = query.streams.access.transform { (arn, access) =>
    shared.getOrElseUpdate(
      arn,
      StreamClient(access.ref, client, new SharedReads(isAws), consumers.get(arn))
    )
  }
  private val shared = scala.collection.mutable.Map.empty[StreamArn, StreamClient]

  /** The first offset of a new query. */
  def begin(): SourceOffset = SourceOffset.of(streams.map(_.firstOffset()))

  /** Something happens to the decisions. */
  def tell[A](event: (Q, Moment) => A): A = {
    val answer = event(query, clock.moment)
    calls.take()
    answer
  }

  /** Time passes. After a pause of the process, or of the whole world, there are few ticks. */
  def work(): Unit = {
    val passed = (clock.now.toEpochMilli - tickedAt.toEpochMilli) / ExecutorTable.Tick.toMillis
    if (passed > 0) tickedAt = clock.now
    (1L to math.min(2, passed)).foreach(_ => tell((it, now) => it.tick(now)))
    calls.work()
  }

  /** Waits for all answers. */
  def finishCalls(): Unit = calls.finish()
}
