package sparkkinesis.bench.sizing

import scala.concurrent.duration._

/**
 * The size of a run.
 *
 * @param rounds rounds that count; a cold one comes before them
 * @param gigabyte records that the local Kinesis is measured with, and that enhanced fan-out
 *   drains: that takes minutes even so
 * @param window length of a round that takes a fixed time
 * @param slowWindow the same for a few records per second
 * @param fanOutShards number of shards of which the memory is measured
 * @param settling time before an idle query is measured, because it polls its shards less and less
 *   often for ten seconds
 * @param ramp first part of a write, in which the sink finds its rate
 * @param warmUpPart the part of a write that comes before the rounds, and does not count
 * @param sinks records that are written in a round, and number of shards
 * @param onceWrites the same for exactly once
 * @param quotaSeconds time during which the quota of a stream is used up
 * @param readQuotaSettling time in which queries learn a quota, and that others read, too
 * @param readQuotaWindow time for which they are measured then
 * @param reshardBacklog records of 1 KB, more than can be read during the reshard
 * @param batchGaps number of gaps between two batches of real-time mode
 * @param intervals intervals of triggers
 * @param catchUp least time for which a query with such a trigger catches up
 * @param intervalRate bytes per second that arrive at a query with a slow sink
 * @param slowSink time that each batch of a slow sink takes
 * @param backlogInterval interval of the trigger of a query with a backlog
 * @param backlogBytes size of that backlog
 * @param driverShards number of shards that are planned without a stream, and of a stream whose
 *   calls are counted
 * @param accountWindow time for which these calls are counted
 */
final case class Sizing(
    rounds: Int,
    drains: Seq[Load],
    drainShards: Seq[Int],
    gigabyte: Load,
    window: FiniteDuration,
    slowWindow: FiniteDuration,
    fanOutShards: Int,
    idleShards: Seq[Int],
    settling: FiniteDuration,
    ramp: FiniteDuration,
    warmUpPart: Double,
    sinks: Seq[(Load, Int)],
    onceWrites: Seq[(Load, Int)],
    quotaSeconds: Int,
    readQuotaSettling: FiniteDuration,
    readQuotaWindow: FiniteDuration,
    driverShards: Int,
    reshardFrom: Int,
    reshardBacklog: Int,
    batchGaps: Int,
    intervals: Seq[FiniteDuration],
    catchUp: FiniteDuration,
    intervalRate: Int,
    slowSink: FiniteDuration,
    backlogInterval: FiniteDuration,
    backlogBytes: Int,
    accountWindow: FiniteDuration
)

/** Records to write or read. */
final case class Load(records: Int, size: Int) {
  def bytes: Long = records.toLong * size

  /** @param share from 0 to 1 */
  def part(share: Double): Load = copy(records = (records * share).toInt)

  override def toString: String = s"${Load.short(bytes)} of ${Load.short(size.toLong)}"
}

object Load {

  /** For example `200 MB` or `1 KB`. */
  def short(bytes: Long): String = bytes match {
    case n if n >= 1000000000 && n % 1000000000 == 0 => s"${n / 1000000000} GB"
    case n if n >= 1000000 => s"${n / 1000000} MB"
    case n if n >= 1000 && n % 1000 == 0 => s"${n / 1000} KB"
    case n => s"$n B"
  }
}

object Sizing {

  /** The size for docs/reference/benchmarks.md: about an hour on two cores. */
  val Full: Sizing = Sizing(
    rounds = 3,
    drains = Seq(Load(5000000, 1000), Load(5000000, 100)),
    drainShards = Seq(4, 64),
    gigabyte = Load(1000000, 1000),
    window = 8.seconds,
    slowWindow = 20.seconds,
    fanOutShards = 1000,
    idleShards = Seq(4, 500),
    settling = 15.seconds,
    ramp = 3.seconds,
    warmUpPart = 0.1,
    sinks = Seq(
      Load(7000000, 1000) -> 4,
      Load(9000000, 1000) -> 64,
      Load(20000000, 100) -> 4
    ),
    onceWrites = Seq(Load(4000000, 1000) -> 4, Load(10000000, 100) -> 4),
    quotaSeconds = 8,
    readQuotaSettling = 20.seconds,
    readQuotaWindow = 100.seconds,
    driverShards = 10000,
    reshardFrom = 64,
    reshardBacklog = 400000,
    batchGaps = 8,
    intervals = Seq(10.seconds, 1.minute),
    catchUp = 1.minute,
    intervalRate = 20000000,
    slowSink = 30.seconds,
    backlogInterval = 10.seconds,
    backlogBytes = 600000000,
    accountWindow = 1.minute
  )

  /** Tests the bench itself. Its figures have no meaning. */
  val Quick: Sizing = Sizing(
    rounds = 1,
    drains = Seq(Load(2000, 1000)),
    drainShards = Seq(2),
    gigabyte = Load(2000, 1000),
    window = 1.second,
    slowWindow = 1.second,
    fanOutShards = 20,
    idleShards = Seq(2),
    settling = 1.second,
    ramp = 1.second,
    warmUpPart = 0.5,
    sinks = Seq(Load(2000, 1000) -> 2),
    onceWrites = Seq(Load(2000, 1000) -> 2),
    quotaSeconds = 2,
    readQuotaSettling = 2.seconds,
    readQuotaWindow = 3.seconds,
    driverShards = 200,
    reshardFrom = 2,
    reshardBacklog = 20000,
    batchGaps = 1,
    intervals = Seq(1.second, 2.seconds),
    catchUp = 3.seconds,
    intervalRate = 20000000,
    slowSink = 3.seconds,
    backlogInterval = 2.seconds,
    backlogBytes = 200000000,
    accountWindow = 2.seconds
  )
}
