package sparkkinesis.simulation

import java.time.Instant

import scala.concurrent.duration._
import scala.util.Random

import sparkkinesis.client.ShardFilter
import sparkkinesis.model._
import sparkkinesis.simulator._
import sparkkinesis.source._

/** A Kinesis with its producer and its faults, and how the query over it is set up, all by the seed. */
final class World(seed: Long, failOnDataLoss: Boolean) {
  val random = new Random(seed)
  val clock = new SimulatedClock(Instant.parse("2026-01-01T00:00:00Z"))
  private var isQuiet = true
  private val chaos = Faults.seeded(seed, 0.02 + random.nextDouble() * 0.2)
  val kinesis =
    new SimulatedKinesis(clock, faults = operation => if (isQuiet) None else chaos(operation))
  val producer = new Producer(kinesis, clock, random)
  private val limits =
    if (random.nextBoolean()) ReadLimits.None
    else
      ReadLimits(
        Some(1L + random.nextInt(30)),
        Option.when(random.nextBoolean())(100L + random.nextInt(1000))
      )

  /** A small buffer holds one page at a time, a larger one several. */
  private val bufferBytes =
    if (random.nextBoolean()) 2000L + random.nextInt(20000) else 100000L + random.nextInt(400000)

  val options: SourceOptions = {
    val named = SourceOptions.parse(Map("streamName" -> "orders", "region" -> "us-east-1"), None)
    named.copy(
      start = if (random.nextBoolean()) StartingPosition.TrimHorizon else StartingPosition.Latest,
      fetch = FetchSettings(
        maxRecords = 1 + random.nextInt(50),
        minPeriod = 200.millis,
        idlePeriod = 1.second,
        bufferBytes = bufferBytes,
        limits = limits,
        failOnDataLoss = failOnDataLoss,
        stopAtMillis = None
      )
    )
  }

  /** Whether nothing fails. */
  def isCalm: Boolean = isQuiet

  /** From now on calls fail now and then. */
  def unleash(): Unit = isQuiet = false

  def soothe(): Unit = isQuiet = true

  def calmly[A](action: => A): A = {
    val before = isQuiet
    isQuiet = true
    try action
    finally isQuiet = before
  }

  /** The ancestors of every shard there ever was, as long as they are listed. */
  def ancestors: Map[ShardId, Set[ShardId]] = calmly {
    ShardDiscovery
      .listAll(kinesis, producer.stream, ShardFilter.FromTrimHorizon)
      .shards
      .sortBy(_.id)
      .foldLeft(Map.empty[ShardId, Set[ShardId]]) { (known, shard) =>
        known.updated(shard.id, shard.parents.flatMap(p => known.getOrElse(p, Set.empty) + p).toSet)
      }
  }
}
