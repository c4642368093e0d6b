package sparkkinesis.source.simulation

import java.time.Instant

import scala.concurrent.duration._
import scala.util.Random

import sparkkinesis.client.{ShardFilter, ShardLister}
import sparkkinesis.model._
import sparkkinesis.shard.ReadSettings
import sparkkinesis.simulator.DrawnBehaviour
import sparkkinesis.simulator.fault.Faults
import sparkkinesis.simulator.service.{SimulatedClock, SimulatedKinesis}
import sparkkinesis.simulator.state.Settings
import sparkkinesis.source.options.{FetchSettings, SourceOptions}
import sparkkinesis.source.position.ByShard
import sparkkinesis.source.protocol.ReadLimits
import sparkkinesis.source.store.FakeSpill

/**
 * A Kinesis with producers and faults, and the options of the query. The seed decides all of it.
 */
final class World(seed: Long, val failOnDataLoss: Boolean) {
  val random = new Random(seed)
  val clock = new SimulatedClock(Instant.parse("2026-01-01T00:00:00Z"), () => random.nextDouble())
  private var isQuiet = true
  private val chaos = Faults.seeded(seed, 0.02 + random.nextDouble() * 0.2)

  /** How long `ListShards` hides a reshard. */
  val listLag: FiniteDuration = (if (random.nextInt(3) == 0) random.nextInt(5000) else 0).millis

  /** Decides the hardships below. Of its own, so that they do not change what else happens. */
  val hardships = new Random(seed + 2)
  val hasQuotas: Boolean = hardships.nextInt(3) == 0

  /** Whether the query knows at once that there are quotas. */
  val isAws: Boolean = hasQuotas && hardships.nextBoolean()

  /** So large that few of them use up the quota of a second. */
  val hasLargeRecords: Boolean = hasQuotas && hardships.nextInt(8) == 0
  val skew: Option[FiniteDuration] =
    Option.when(hardships.nextInt(3) == 0)(Skews(hardships.nextInt(Skews.size)))

  /** What Kinesis does besides the simplest. */
  private val behaviour = {
    val drawn = DrawnBehaviour(seed + 4)
    // Before a listing shows that a shard is closed, other shards do not wait for its children.
    if (skew.isEmpty) drawn else drawn.copy(endlessSubscriptions = 0)
  }

  val kinesis = new SimulatedKinesis(
    clock,
    Settings(listLag = listLag, quotas = hasQuotas, behaviour = behaviour),
    operation => if (isQuiet) None else chaos(operation)
  )

  /** One producer per stream. */
  val producers: Vector[Producer] = (if (random.nextInt(3) == 0) Vector("orders", "refunds")
                                     else Vector("orders"))
    .map { name =>
      val isScaled = behaviour.reshardInterval > Duration.Zero
      new Producer(kinesis, clock, random, StreamName(name), () => padding(), isScaled)
    }
  private val rival = Option.when(hasQuotas && hardships.nextBoolean())(new Rival(this))

  /** Of its own, so that fan-out does not change what else happens. */
  private val fanOutRandom = new Random(seed + 3)
  private val hasFanOut = fanOutRandom.nextInt(3) == 0
  private val fanOut = new RoughFanOut(kinesis, fanOutRandom, () => isQuiet)

  /** With it, executors read ahead by enhanced fan-out. */
  val consumers: Map[StreamArn, ConsumerArn] =
    if (hasFanOut) producers.map { producer =>
      val consumer = kinesis.fanOut.register(producer.stream, "app").arn
      consumer.stream -> consumer
    }.toMap
    else Map.empty
  private var isOvertaken = false
  val client = new RoughKinesis(kinesis, fanOut, () => Option.when(isOvertaken)(clock.now))

  /** From now on, records expire as fast as polling reads them. */
  def overtake(): Unit = isOvertaken = true

  /** Subscriptions send the events that are due. */
  def push(): Unit = if (hasFanOut) fanOut.push()

  /** Seconds without news after which a query has read all: silent subscriptions are replaced. */
  def quietSeconds: Int = if (hasLargeRecords || hasFanOut) 100 else if (hasQuotas) 30 else 20

  def producer: Producer = producers(random.nextInt(producers.size))

  /** Another consumer, if there is one, reads. */
  def rivalReads(): Unit = rival.foreach(_.read())

  private def padding(): Int =
    if (hasLargeRecords && hardships.nextInt(20) == 0) 100000 + hardships.nextInt(800000) else 0

  /** When a record of the key arrived. */
  def arrivalMillis(key: String, number: Int): Long =
    producers.filter(_.owns(key)).map(_.arrivalMillis(number)).head

  def written: Map[String, Seq[Int]] = producers.flatMap(_.written).toMap

  def writtenAfter(millis: Long): Map[String, Seq[Int]] =
    producers.flatMap(_.writtenAfter(millis)).toMap

  private val limits =
    if (random.nextBoolean()) ReadLimits.None
    else
      ReadLimits(
        Some(1L + random.nextInt(30)),
        Option.when(random.nextBoolean())(100L + random.nextInt(1000))
      )

  /** How much larger pages are than the pages of small records. */
  private def sizeOfPages = if (hasLargeRecords) 20L else 1L

  /** Fifty records of a few bytes, or what one call returns: an empty store accepts each page. */
  val largestPage: Long = if (hasLargeRecords || hasFanOut) 11L << 20 else 50L * 1000

  /** A small memory has room for one page, a larger one for several. */
  private val bufferBytes = sizeOfPages *
    (if (random.nextBoolean()) 2000L + random.nextInt(20000) else 100000L + random.nextInt(400000))

  /** Of its own, so that the disk does not change what else happens. */
  private val diskRandom = new Random(seed + 1)

  private val spillBytes =
    if (diskRandom.nextInt(3) == 0) 0L else sizeOfPages * (20000L + diskRandom.nextInt(400000))
  private val isDiskFaulty = diskRandom.nextBoolean()

  /** The disk of an executor: on some, pages cannot be written, or not be read again. */
  def newDisk(): FakeSpill = new FakeSpill(() => isDiskFaulty && diskRandom.nextInt(5) == 0)

  private val fetch = FetchSettings(
    ReadSettings(1 + random.nextInt(50), 200.millis, 1.second, failOnDataLoss = failOnDataLoss),
    bufferBytes = Some(bufferBytes),
    spillBytes = spillBytes,
    limits = limits,
    maxShardSkew = skew
  )

  val start: Position =
    if (random.nextBoolean()) Position.TrimHorizon else Position.Latest

  /** The options of a query that names the first `named` streams. */
  def options(streams: Int): SourceOptions = {
    val names = producers.take(streams).map(_.stream)
    SourceOptions
      .parse(Map("streamName" -> names.mkString(","), "region" -> "us-east-1"), None)
      .copy(
        start = Some(names.map(_ -> ByShard(start)).toMap),
        fetch = fetch,
        discoveryInterval = 3.seconds
      )
  }

  /** Waits until the listings show all reshards: `latest` in a closed shard is in its children. */
  def settle(): Unit = calmly {
    producers.foreach(_.settle())
    clock.advance(listLag + 1.second)
  }

  /**
   * After the choice of a start: records that are written now have a later arrival time. A query
   * from `latest` might or might not read others.
   */
  def passChoice(): Unit = clock.advance(behaviour.arrivalFall + 1.milli)

  /** Whether nothing fails. */
  def isCalm: Boolean = isQuiet

  /** Lets some calls fail from now on. */
  def unleash(): Unit = isQuiet = false

  def soothe(): Unit = isQuiet = true

  def calmly[A](action: => A): A = {
    val before = isQuiet
    isQuiet = true
    try action
    finally isQuiet = before
  }

  /** The listed ancestors of every shard. */
  def ancestors: Map[StreamShard, Set[StreamShard]] =
    producers.map(producer => calmly(ancestorsIn(producer.stream))).reduce(_ ++ _)

  private def ancestorsIn(stream: StreamRef): Map[StreamShard, Set[StreamShard]] = {
    val arn = kinesis.describeStream(stream).arn
    ShardLister
      .list(kinesis, stream, ShardFilter.FromTrimHorizon)
      .shards
      .sortBy(_.id)
      .foldLeft(Map.empty[StreamShard, Set[StreamShard]]) { (known, shard) =>
        val parents = shard.parents.map(StreamShard(arn, _))
        val all = parents.flatMap(parent => known.getOrElse(parent, Set.empty) + parent)
        known.updated(StreamShard(arn, shard.id), all.toSet)
      }
  }

  private def Skews = Vector(1.second, 1500.millis, 20.seconds, 10.minutes)
}
