package sparkkinesis.source.store

import java.time.Instant

import sparkkinesis.compat._
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{PackedRecords, SequenceNumber}
import sparkkinesis.source.protocol.ShardRange

/**
 * A page of the store, or several that are one block on disk.
 *
 * @param extent of its records; `None` if there are none
 * @param bytes size of the page, in memory or on disk
 * @param marks see [[BufferedPage]]
 * @param place its records, or their identity on disk
 */
private[store] final class StoredPage(
    val from: Progress,
    val upTo: Progress,
    private val extent: Option[StoredPage.Extent],
    val bytes: Long,
    val marks: Double,
    place: Either[Long, PackedRecords]
) {

  /** Where the page is on disk; `None` if it is in memory. */
  def onDisk: Option[Long] = place.left.toOption

  def memoryBytes: Long = if (onDisk.isEmpty) bytes else StoredPage.EntryBytes

  def diskBytes: Long = if (onDisk.isEmpty) 0 else bytes

  /** The records of the page, if it is in memory. */
  def loaded: Option[PackedRecords] = place.toOption

  /** Its first record. */
  def first: Option[SequenceNumber] = extent.map(_.first)

  /** Arrival time of its last record. */
  def lastArrival: Option[Instant] = extent.map(it => Instant.ofEpochMilli(it.lastArrivalMillis))

  /** Whether the page begins there, ends there, or has the record. */
  def contains(progress: Progress): Boolean =
    progress == from || (progress match {
      case Progress.After(number) => spans(number)
      case Progress.From(number) => spans(number)
      case other => other == Progress.Finished && upTo == Progress.Finished
    })

  private def spans(number: SequenceNumber): Boolean =
    extent.exists(it => it.first <= number && number <= it.last)

  /** The records between the ends of the range; `None` if the page has been lost. */
  def records(range: ShardRange, spill: SpillSpace): Option[PackedRecords] =
    for {
      records <- place.fold(spill.read(_).flatMap(_.records), Some(_))
      page = BufferedPage(from, records, upTo)
      begin <- page.indexAfter(range.start)
      end <- page.indexAfter(range.upTo)
    } yield records.slice(begin, end)
}

private[store] object StoredPage {

  /** Memory of a page that is on disk: this object, and the entries about its file. */
  val EntryBytes = 1024L

  def of(page: BufferedPage): StoredPage = {
    val records = page.records
    val last = records.length - 1
    val extent = Option.when(records.nonEmpty) {
      Extent(records.sequenceNumber(0), records.sequenceNumber(last), records.arrivalMillis(last))
    }
    new StoredPage(page.from, page.upTo, extent, page.bytes, page.marks, Right(records))
  }

  /** Successive pages, which are one block on disk. */
  def block(pages: Vector[StoredPage], id: Long): StoredPage = {
    val extents = pages.flatMap(_.extent)
    val extent = extents.lastOption.map(_.copy(first = extents.head.first))
    val (bytes, marks) = (pages.map(_.bytes).sum, pages.map(_.marks).sum)
    new StoredPage(pages.head.from, pages.last.upTo, extent, bytes, marks, Left(id))
  }

  /** The first and the last record of a page. */
  private[store] final case class Extent(
      first: SequenceNumber,
      last: SequenceNumber,
      lastArrivalMillis: Long
  )
}

/**
 * The part of a range that one page holds. A task that does not get its records here reads the part
 * from Kinesis.
 */
final class StoredPart private[store] (val range: ShardRange, page: StoredPage, spill: SpillSpace) {

  /** `None` if the page has been lost. Reads the page from disk if it is there. */
  def records: Option[PackedRecords] = page.records(range, spill)
}

private[store] object StoredPart {

  /** @param all pages of the shard, in order */
  def of(
      range: ShardRange,
      all: Vector[StoredPage],
      spill: SpillSpace
  ): Option[Vector[StoredPart]] = {
    val start = range.start
    val first = all.indexWhere(page => page.contains(start) && page.upTo != start) match {
      case -1 => all.indexWhere(_.contains(start))
      case index => index
    }
    val last = all.indexWhere(_.contains(range.upTo), first)
    val pages = all.slice(first, last + 1)
    val isWhole = pages.zip(pages.drop(1)).forall { case (page, next) => page.upTo == next.from }
    if (first < 0 || last < 0 || !isWhole) None
    else
      Some(pages.zipWithIndex.map { case (page, index) =>
        val upTo = if (first + index == last) range.upTo else page.upTo
        val before = if (index == 0) range else after(pages(index - 1), page, range)
        new StoredPart(before.copy(upTo = upTo), page, spill)
      })
  }

  /**
   * The rest of the range. A loss in it is judged by its first record, or by what was read before
   * if the page has none.
   */
  private def after(before: StoredPage, page: StoredPage, range: ShardRange): ShardRange = {
    val completeAsOf = (range.completeAsOf ++ before.lastArrival).maxOption
    range.copy(from = before.upTo, completeAsOf = completeAsOf, first = page.first)
  }
}
