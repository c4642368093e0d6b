package sparkkinesis.sink.simulation

import scala.concurrent.duration._
import scala.util.Random

import sparkkinesis.Steps
import sparkkinesis.sink.lane.RequestLimits
import sparkkinesis.sink.{AggregateLimits, DeadLetterOptions, SinkOptions}

/**
 * The settings of a history, drawn by its seed.
 *
 *   - `isHeavy`: a few records fill the quota of a shard.
 *   - `faultRate`: fraction of requests and listings that fail, 0 to 1.
 *   - `slowest`: longest time of a request's way to the service, and of its way back, in
 *     milliseconds.
 *   - `patience`: time after which a writer gives up a request, in milliseconds.
 *   - `isLate`: whether a request that was given up may still take effect.
 *   - `keepsLate`: whether records that a shard does not take in time become dead letters.
 *   - `calmAt`: when faults, kills and reshards end, in milliseconds since the beginning.
 */
final class Setup(seed: Long, random: Random) {
  val isAggregated: Boolean = seed % 2 == 1
  val isOrdered: Boolean = seed / 2 % 2 == 1
  val keepsLate: Boolean = !isOrdered && seed / 4 % 2 == 1
  val isHeavy: Boolean = random.nextInt(4) == 0
  val streams: Int = if (random.nextInt(3) == 0) 2 else 1
  val executors: Int = 1 + random.nextInt(2)
  val tasks: Int = 1 + random.nextInt(3)
  val hasRival: Boolean = random.nextInt(4) == 0
  val faultRate: Double = Vector(0, 0.05, 0.3)(random.nextInt(3))
  val slowest: Int = Vector(20, 200, 3000)(random.nextInt(3))
  val patience: Int = 1000 + random.nextInt(9000)
  val isLate: Boolean = random.nextInt(4) == 0
  val listLag: FiniteDuration = (if (random.nextBoolean()) random.nextInt(5000) else 0).millis
  val calmAt: Int = 5000 + random.nextInt(60000)
  val kills: Int = Steps(math.max(0, random.nextInt(6) - 2))
  val reshards: Int = Steps(math.max(0, random.nextInt(8) - 2))
  val rowsOfTask: Int = Steps(random.nextInt(if (isHeavy) 120 else 200))
  val keysOfTask: Int = 1 + random.nextInt(8)

  /** Size of the data of the next row. */
  def rowBytes(): Int = if (isHeavy) 2000 + random.nextInt(30000) else 20 + random.nextInt(180)

  val maxRecordBytes: Int = if (isHeavy) 50000 else 1000

  val limits: RequestLimits =
    RequestLimits(1 + random.nextInt(30), maxRecordBytes * (1L + random.nextInt(5)))

  val options: SinkOptions = SinkOptions(
    deliveryTimeout =
      if (keepsLate) (1 + random.nextInt(10)).seconds else (30 + random.nextInt(300)).seconds,
    givenLinger = Some((20 + random.nextInt(300)).millis),
    maxInFlightRequests = 1 + random.nextInt(6),
    maxBufferedBytes = maxRecordBytes / 2 + random.nextInt(20 * maxRecordBytes).toLong,
    aggregation = Option.when(isAggregated)(
      AggregateLimits(maxRecordBytes / 5 + random.nextInt(maxRecordBytes), 1 + random.nextInt(30))
    ),
    isOrdered = isOrdered,
    deadLetters = Option.when(keepsLate)(DeadLetterOptions("letters", keepsLateRecords = true))
  )

  /** Whether an executor may have more to send than the first `RequestLimit` allows. */
  val sharesLimit: Boolean =
    slowest > 200 || faultRate > 0 || tasks * options.maxInFlightRequests > 8 / executors
}
