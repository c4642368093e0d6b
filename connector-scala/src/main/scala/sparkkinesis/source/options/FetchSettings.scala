package sparkkinesis.source.options

import scala.concurrent.duration._

import sparkkinesis.compat._
import sparkkinesis.model.PackedRecords
import sparkkinesis.shard.ReadSettings
import sparkkinesis.source.protocol.{Mark, MarkBudget, ReadLimits}

/**
 * How a query reads from Kinesis.
 *
 * @param reads how each shard is read, also by tasks
 * @param bufferBytes memory per executor for pages that are read ahead; `None` follows the heap
 * @param spillBytes disk per executor for such pages; 0 if all stay in memory
 * @param limits of a batch: they determine the distance between marks
 * @param stopAtMillis with `Trigger.AvailableNow`: the query reads each record that arrived by
 *   then, and some that arrived up to a second later
 * @param maxShardSkew how far a shard may be read beyond the oldest unread record of another one,
 *   by the arrival times
 * @param shards number of shards that the query reads: if there are very many, each has fewer marks
 */
private[sparkkinesis] final case class FetchSettings(
    reads: ReadSettings = ReadSettings(),
    bufferBytes: Option[Long] = None,
    spillBytes: Long = 4L << 30,
    limits: ReadLimits = ReadLimits.None,
    stopAtMillis: Option[Long] = None,
    maxShardSkew: Option[FiniteDuration] = None,
    shards: Int = 1
) {

  /**
   * Indices of a page at which a batch may end: always the last one, and others as the limits
   * require.
   */
  def marks(records: PackedRecords): Vector[Int] = {
    val last = records.size - 1
    if (mostMarks.isEmpty) Vector(last)
    else {
      val most = limitsOfMark.maxRecords.getOrElse(Long.MaxValue)
      val mostBytes = limitsOfMark.maxBytes.fold(Long.MaxValue) { bytes =>
        math.max(bytes, records.dataBytes / marksPerPage)
      }
      val mostMillis = maxShardSkew.fold(Long.MaxValue)(_.toMillis)
      val ends = Vector.newBuilder[Int]
      var begin = 0
      while (begin <= last) {
        val end = endOfMark(records, begin, most, mostBytes, mostMillis)
        ends += end
        begin = end + 1
      }
      ends.result()
    }
  }

  /**
   * Index of the last record of the mark that begins there. A loop over primitives, because it runs
   * once per record.
   *
   * @param most number of records of a mark
   * @param mostMillis between the first arrival and the latest one of its records
   */
  private def endOfMark(
      records: PackedRecords,
      begin: Int,
      most: Long,
      mostBytes: Long,
      mostMillis: Long
  ): Int = {
    val end = begin + math.min(records.size - begin.toLong, most).toInt - 1
    var first = records.arrivalMillis(begin)
    var latest = first
    var index = begin
    var bytes = records.dataLength(begin).toLong
    var fits = true
    while (fits && index < end && bytes < mostBytes) {
      val arrival = records.arrivalMillis(index + 1)
      first = math.min(first, arrival)
      latest = math.max(latest, arrival)
      fits = latest - first <= mostMillis
      if (fits) {
        index += 1
        bytes += records.dataLength(index)
      }
    }
    index
  }

  /**
   * How a fetcher reads. If limits are small, a page has many marks. With `maxShardSkew`, other
   * shards wait for the time up to which a quiet shard is complete.
   */
  lazy val ahead: ReadSettings = reads.copy(
    maxRecords = limitsOfMark.maxRecords.fold(reads.maxRecords) { records =>
      math.min(reads.maxRecords, math.min(records, reads.maxRecords.toLong) * marksPerPage).toInt
    },
    idlePeriod = maxShardSkew.fold(reads.idlePeriod) { skew =>
      reads.idlePeriod.min(skew / 2).max(reads.minPeriod)
    },
    renewal = maxShardSkew.fold(reads.renewal)(_ / 2)
  )

  /**
   * Largest size of a mark that stands for several ones. With `maxShardSkew`, each mark is needed.
   */
  def joinedMark: ReadLimits =
    if (maxShardSkew.isEmpty) limitsOfMark else ReadLimits(Some(0), None)

  /** Number of marks of a shard that are enough for many batches; `None` if a page has one mark. */
  def mostMarks: Option[Int] =
    Option.when(!limits.isUnlimited || maxShardSkew.nonEmpty) {
      math.min(FetchSettings.MostMarks, MarkBudget.ofShard(shards))
    }

  /** Most marks of a page, which it has if limits are small. */
  private def marksPerPage: Int = math.min(FetchSettings.MarksPerPage, MarkBudget.ofShard(shards))

  /**
   * How many marks of the largest size have room for these marks. The driver joins small marks up
   * to that size.
   */
  def joined(marks: Vector[Mark]): Double = {
    def part(size: Long, limit: Option[Long]) = limit.fold(0.0)(size.toDouble / _)
    def size(mark: Mark) = math.max(
      part(mark.records, limitsOfMark.maxRecords),
      part(mark.bytes, limitsOfMark.maxBytes)
    )
    if (maxShardSkew.nonEmpty) marks.size.toDouble else marks.map(size(_).min(1.0)).sum
  }

  /** The distance between marks: a small part of the limits of a batch. */
  lazy val limitsOfMark: ReadLimits = {
    def part(limit: Long) = math.max(1L, limit / FetchSettings.MarksPerLimit)
    ReadLimits(limits.maxRecords.map(part), limits.maxBytes.map(part))
  }
}

private[sparkkinesis] object FetchSettings {

  private val MarksPerPage = 256
  private val MostMarks = 4096

  private val MarksPerLimit = 32L
}
