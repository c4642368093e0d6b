package sparkkinesis.sink.simulation.once

import java.nio.charset.StandardCharsets.UTF_8
import java.time.Instant
import java.util.Arrays

import scala.collection.mutable
import scala.concurrent.duration._
import scala.util.Random

import sparkkinesis.Steps
import sparkkinesis.model.{PutEntry, ShardId, StreamName, StreamRef}
import sparkkinesis.simulator.DrawnBehaviour
import sparkkinesis.simulator.service.SimulatedKinesis
import sparkkinesis.simulator.state.{Behaviour, Settings}
import sparkkinesis.sink.lane.RequestLimits
import sparkkinesis.sink.once.OnceTerms
import sparkkinesis.sink.rate.TargetStream
import sparkkinesis.sink.simulation.{Agenda, Shards}
import sparkkinesis.sink.{AggregateLimits, SinkOptions}

/**
 * A Kinesis in memory, the rows of one batch, and the log of attempts, all by the seed.
 *
 *   - `faultRate`: fraction of requests and questions with a fault, 0 to 1.
 *   - `slowest`: longest time of a message's way, in milliseconds.
 *   - `patience`: time after which a writer gives up a request. It may still take effect until
 *     `terms.acceptance` after it was sent.
 *   - `retention`: of the stream. In some histories, records expire before or while they are read.
 *   - `calmAt`: when faults, crashes and reshards end, in milliseconds since the beginning.
 */
final class OnceWorld(val seed: Long) {
  val random = new Random(seed)
  val agenda = new Agenda

  /** What Kinesis does besides the simplest. */
  val behaviour: Behaviour = DrawnBehaviour(seed + 4)

  /** A question may be on its way for a second, and the driver takes it for as much younger. */
  private val margin = behaviour.arrivalFall + (1000 + random.nextInt(10000)).millis
  val terms: OnceTerms =
    OnceTerms(1500.millis, 500.millis, 4.seconds, margin, visible = 200.millis)
  val isOrdered: Boolean = seed % 2 == 1
  val partitions: Int = 1 + random.nextInt(3)
  val faultRate: Double = Vector(0, 0.1, 0.4)(random.nextInt(3))
  val slowest: Int = Vector(20, 200, 1000)(random.nextInt(3))
  val patience: Int = 500 + random.nextInt(3000)
  val calmAt: Int = 2000 + random.nextInt(30000)
  val reshards: Int = Steps(math.max(0, random.nextInt(6) - 2))
  val taskFaults: Int = Steps(math.max(0, random.nextInt(6) - 2))
  val driverFaults: Int = Steps(math.max(0, random.nextInt(5) - 2))
  val retention: FiniteDuration =
    if (random.nextInt(3) > 0) 24.hours else (12 + random.nextInt(30)).seconds
  private val listLag = (if (random.nextBoolean()) random.nextInt(3000) else 0).millis

  /** [[RestlessKinesis]] delays what a read-back sees, because the agenda's clock stands still. */
  val kinesis = new SimulatedKinesis(
    agenda.clock,
    Settings(
      retention,
      listLag = listLag,
      behaviour = behaviour.copy(visibilityDelay = Duration.Zero)
    )
  )
  private val name = StreamName("orders")
  val stream: StreamRef = StreamRef.ByName(name)
  val shards = new Shards(kinesis, random, name, 1 + random.nextInt(3))

  private val maxRecordBytes = 3000
  val limits: RequestLimits =
    RequestLimits(1 + random.nextInt(10), maxRecordBytes * (1L + random.nextInt(4)))

  val options: SinkOptions = SinkOptions(
    deliveryTimeout = 3.minutes,
    givenLinger = Some((20 + random.nextInt(300)).millis),
    maxInFlightRequests = 1 + random.nextInt(6),
    maxBufferedBytes = maxRecordBytes / 2 + random.nextInt(20 * maxRecordBytes).toLong,
    aggregation =
      Some(AggregateLimits(1024 + random.nextInt(maxRecordBytes), 1 + random.nextInt(20))),
    isOrdered = isOrdered,
    isExactlyOnce = true
  )

  /** The rows of each partition. Some are equal. Every attempt has the same rows. */
  val rows: Vector[Vector[PutEntry]] = Vector.tabulate(partitions) { partition =>
    val keys = 1 + random.nextInt(6)
    Vector.tabulate(Steps(random.nextInt(80))) { number =>
      val isRepeated = random.nextInt(10) == 0
      val text = if (isRepeated) "again" else f"$number%06d"
      val key = s"key-$partition-${random.nextInt(keys)}"
      PutEntry(key, Arrays.copyOf(text.getBytes(UTF_8), if (isRepeated) 40 else sizeOfRow()), None)
    }
  }

  /** What landed, in order: the shard and the rows of each Kinesis record. */
  val landed: mutable.ArrayBuffer[(ShardId, PutEntry)] = mutable.ArrayBuffer.empty

  /** Whether the batch has failed because rows may have expired before they were read. */
  var isTooLate = false

  /** Keys whose rows are in order within each shard, but not over all shards. */
  var disorderedKeys = 0

  /** The log of attempts: the newest, and when the first began. */
  var newestRun: Long = -1
  val firstAt: Instant = agenda.clock.now

  /** What happened, to see that histories are worth their time. */
  val features: mutable.Set[String] = mutable.Set.empty[String]

  val target: TargetStream = {
    val made =
      new TargetStream(stream, kinesis, maxRecordBytes, None, 1, agenda.clock)
    made.shards() // before anything happens
    made
  }

  private def sizeOfRow() = 8 + random.nextInt(300)

  def isCalm: Boolean = agenda.elapsed >= calmAt

  def fails(): Boolean = random.nextDouble() < faultRate && !isCalm

  def latency(): Long = 1L + random.nextInt(if (isCalm) 20 else slowest)

  /** A shard, open or closed. */
  def anyShard(): ShardId = shards.any()
}
