package sparkkinesis.sink.simulation

import scala.collection.mutable
import scala.concurrent.duration._
import scala.util.Random

import sparkkinesis.client.{KinesisException, PutResult}
import sparkkinesis.model._
import sparkkinesis.simulator.service.SimulatedKinesis
import sparkkinesis.simulator.state.{Settings, WriteQuota}
import sparkkinesis.sink.SinkOptions
import sparkkinesis.sink.lane.{PendingRecord, Request, RequestLimits}
import sparkkinesis.sink.rate.TargetStream

/**
 * Tasks that always have more rows write to a stream with quotas. Only records that exceed a quota
 * fail. The first seconds do not count.
 *
 * @param counted number of executors that each executor believes in; by default the true one
 * @param isByClock whether a shard takes 1,000 records in each second of the clock, instead of the
 *   quota
 */
private[simulation] final class SinkRates(
    shards: Int,
    executors: Int,
    end: FiniteDuration = 60.seconds,
    quota: WriteQuota = WriteQuota.Bucket,
    counted: Option[Int] = None,
    seed: Long = 1,
    isByClock: Boolean = false
) {
  import SinkRates._

  private val random = new Random(seed)
  private val agenda = new Agenda
  private val kinesis =
    new SimulatedKinesis(agenda.clock, Settings(quotas = !isByClock, writeQuota = quota))
  private val stream = StreamRef.ByName(StreamName("orders"))
  kinesis.createStream(stream.name, shards)

  private val targets = Vector.fill(executors)(
    new TargetStream(
      stream,
      kinesis,
      ServiceLimits.RecordBytes,
      None,
      counted.getOrElse(executors),
      agenda.clock
    )
  )
  private val ranges = HashKeyRange.even(shards)
  private val written = mutable.Map.empty[(Int, ShardId), Sum].withDefaultValue(Sum.Zero)
  private var throttled, sent = 0L
  private var endedAt = 0L

  private val wire: Int => Wire = executor =>
    new Wire {
      override def put(to: TargetStream, request: Request)(
          answered: Either[KinesisException, Seq[PutResult]] => Unit
      ): Unit = agenda.after(way()) {
        val entries = request.entries
        val results =
          if (isByClock) entries.map(putByClock) else kinesis.putRecords(to.ref, entries)
        if (isCounting) count(executor, request, results)
        agenda.after(way())(answered(Right(results)))
      }

      override def list(to: TargetStream, stale: ShardMap)(
          answered: Either[KinesisException, ShardMap] => Unit
      ): Unit = agenda.after(way())(answered(Right(to.shardsAfter(stale))))
    }

  private val phase = random.nextInt(1000)
  private val bySecond = mutable.Map.empty[(Int, Long), Int].withDefaultValue(0)

  private def putByClock(entry: PutEntry): PutResult = {
    val shard = ranges.indexWhere(_.contains(entry.hashKey))
    val place = (shard, (agenda.elapsed + phase) / 1000)
    if (bySecond(place) < ServiceLimits.WriteRecordsPerSecond) {
      bySecond(place) += 1
      kinesis.putRecords(stream, Seq(entry)).head
    } else PutResult.Failed("ProvisionedThroughputExceededException", "slow down")
  }

  /** Time of one way over the network, in milliseconds. */
  private def way(): Long = 2L + random.nextInt(15)

  private def isCounting = agenda.elapsed >= Start.toMillis && agenda.elapsed < end.toMillis

  private def count(executor: Int, request: Request, results: Seq[PutResult]): Unit =
    request.records.toSeq.lazyZip(results).foreach { (record, result) =>
      sent += 1
      result match {
        case PutResult.Written(shard, _) =>
          written((executor, shard)) = written((executor, shard)).and(record)
        case _ => throttled += 1
      }
    }

  /**
   * @param size of a row's data
   * @param weights number of rows per shard in each cycle
   * @param pause milliseconds between two cycles
   * @param most number of rows
   */
  def task(
      executor: Int,
      options: SinkOptions,
      size: Int,
      weights: Seq[Int],
      pause: Long = 0,
      most: Int = Int.MaxValue
  ): Unit = {
    val cycle = weights.zipWithIndex.flatMap { case (weight, i) => Vector.fill(weight)(i) }
    var put = 0L
    val data = new Array[Byte](size)
    val rows = Iterator
      .continually(cycle)
      .flatten
      .map { shard =>
        targets(executor) -> PutEntry(s"key-${random.nextInt(1000)}", data, hashKeyOf(shard))
      }
      .takeWhile(_ => agenda.elapsed < end.toMillis)
      .take(most)
    new SimulatedWriter(
      agenda,
      wire(executor),
      RequestLimits.of(SinkOptions()),
      options,
      None,
      random,
      rows,
      () => {
        put += 1
        if (put % cycle.size == 0) pause else 0
      },
      failure => {
        require(failure.isEmpty, s"a task failed: $failure")
        endedAt = agenda.elapsed
      }
    ).run()
  }

  /** None for a stream of one shard. */
  private def hashKeyOf(shard: Int): Option[HashKey] =
    Option.when(shards > 1)(HashKey(ranges(shard).last.value - BigInt(100, random.self)))

  def run(): Unit = agenda.run(10.minutes)

  /** Milliseconds until the last task ended. */
  def duration: Long = endedAt

  /** The fraction of all sent Kinesis records that the service throttled. */
  def throttledShare: Double = throttled.toDouble / math.max(1L, sent)

  /** The used fraction of a shard's quota: of records or bytes, whichever is larger. */
  def use(shard: Int, by: Int => Boolean = _ => true): Double = {
    val all = sums(shard, by)
    math.max(
      all.map(_.records).sum / seconds / ServiceLimits.WriteRecordsPerSecond,
      all.map(_.bytes).sum / seconds / ServiceLimits.WriteBytesPerSecond
    )
  }

  /** Rows per second that a shard accepted. The rows of an aggregate count one by one. */
  def rowsPerSecond(shard: Int): Double = sums(shard, _ => true).map(_.rows).sum / seconds

  private def sums(shard: Int, by: Int => Boolean): Iterable[Sum] = written.collect {
    case ((executor, id), sum) if id.number.contains(shard.toLong) && by(executor) => sum
  }

  private def seconds: Double = (end - Start).toSeconds.toDouble
}

private[simulation] object SinkRates {
  private val Start = 10.seconds

  /** @param records number of Kinesis records */
  private final case class Sum(records: Long, bytes: Long, rows: Long) {
    def and(record: PendingRecord): Sum =
      Sum(records + 1, bytes + record.size, rows + record.userRecords)
  }

  private object Sum {
    val Zero: Sum = Sum(0, 0, 0)
  }
}
