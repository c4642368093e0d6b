package sparkkinesis.source.store

import java.time.Instant

import sparkkinesis.compat._
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{PackedRecords, SequenceNumber}
import sparkkinesis.shard.ShardRange

/**
 * Records of one `GetRecords` answer, or of several that are one block on disk.
 *
 * @param from progress before the first record
 * @param upTo `After` the last record, or `Finished`
 * @param numbers of the first and the last record; `None` if there are none
 * @param lastArrival arrival time of the last record
 * @param bytes size in memory or on disk
 * @param marks number of marks that the driver keeps for the page. It is less than 1 if the driver
 *   joins the marks of several pages
 * @param place the records, or their identity on disk
 */
private[sparkkinesis] final class StoredPage private (
    val from: Progress,
    val upTo: Progress,
    private val numbers: Option[(SequenceNumber, SequenceNumber)],
    val lastArrival: Option[Instant],
    val bytes: Long,
    val marks: Double,
    place: Either[Long, PackedRecords]
) {

  /** Where the page is on disk; `None` if it is in memory. */
  def onDisk: Option[Long] = place.left.toOption

  /** The records, if they are in memory. */
  def inMemory: Option[PackedRecords] = place.toOption

  def memoryBytes: Long = if (onDisk.isEmpty) bytes else StoredPage.EntryBytes

  def diskBytes: Long = if (onDisk.isEmpty) 0 else bytes

  /** Its first record. */
  def first: Option[SequenceNumber] = numbers.map(_._1)

  /** Whether the page begins there, ends there, or has the record. */
  def contains(progress: Progress): Boolean =
    progress == from || (progress match {
      case Progress.After(number) => spans(number)
      case Progress.From(number) => spans(number)
      case other => other == Progress.Finished && upTo == Progress.Finished
    })

  private def spans(number: SequenceNumber): Boolean =
    numbers.exists { case (first, last) => first <= number && number <= last }

  /** The records between the ends of the range; `None` if the page has been lost. */
  def records(range: ShardRange, spill: SpillSpace): Option[PackedRecords] =
    for {
      records <- place.fold(spill.read(_).flatMap(_.records), Some(_))
      begin <- indexAfter(range.start, records)
      end <- indexAfter(range.upTo, records)
    } yield records.slice(begin, end)

  /** Index of the first record after `progress`; `None` if `progress` is not within the page. */
  private def indexAfter(progress: Progress, records: PackedRecords): Option[Int] =
    progress match {
      case `from` => Some(0)
      case Progress.After(number) => StoredPage.indexOf(number, records).map(_ + 1)
      case Progress.From(number) => StoredPage.indexOf(number, records)
      case _ => Option.when(contains(progress))(records.size)
    }
}

private[sparkkinesis] object StoredPage {

  /** The objects around the records: for a page with few of them as much as its data. */
  val ObjectBytes = 640L

  /** Memory of a page that is on disk: this object, and the entries about its file. */
  private[store] val EntryBytes = 1024L

  /** The entry of a page on disk should be a small part of the page. */
  private[store] val SmallBytes = 64L * 1024

  /** A block is copied before it is written. */
  private val MostBlockBytes = 1L << 20

  def apply(
      from: Progress,
      records: PackedRecords,
      upTo: Progress,
      marks: Double = 1
  ): StoredPage = {
    val last = records.length - 1
    val numbers =
      Option.when(last >= 0)(records.sequenceNumber(0) -> records.sequenceNumber(last))
    val arrival = Option.when(last >= 0)(Instant.ofEpochMilli(records.arrivalMillis(last)))
    val bytes = records.bytes + ObjectBytes
    new StoredPage(from, upTo, numbers, arrival, bytes, marks, Right(records))
  }

  /**
   * The pages at the end that go to disk together: the last page, and the small ones before it. A
   * block of its own for each small page would take as much memory as the page.
   *
   * @param pages of a shard, in order, at least one
   * @param least bytes of a block; the result is empty if it would be smaller
   */
  private[store] def lastBlock(pages: Vector[StoredPage], least: Long): Vector[StoredPage] = {
    def isSmall(page: StoredPage) = page.onDisk.isEmpty && page.bytes < SmallBytes
    var (first, size) = (pages.size - 1, pages.last.bytes)
    val most = if (isSmall(pages.last)) MostBlockBytes else 0L
    while (first > 0 && size < most && isSmall(pages(first - 1))) {
      first -= 1
      size += pages(first).bytes
    }
    if (size >= math.max(least, 2 * EntryBytes)) pages.drop(first) else Vector.empty
  }

  /** @param pages successive ones, which are one block on disk */
  private[store] def block(pages: Vector[StoredPage], id: Long): StoredPage = {
    val numbers = pages.flatMap(_.numbers)
    new StoredPage(
      pages.head.from,
      pages.last.upTo,
      numbers.headOption.map { case (first, _) => first -> numbers.last._2 },
      pages.flatMap(_.lastArrival).lastOption,
      pages.map(_.bytes).sum,
      pages.map(_.marks).sum,
      Left(id)
    )
  }

  private def indexOf(number: SequenceNumber, records: PackedRecords): Option[Int] = {
    var (low, high) = (0, records.size)
    while (low < high) {
      val middle = (low + high) / 2
      if (records.compareNumber(middle, number) < 0) low = middle + 1 else high = middle
    }
    Option.when(low < records.size && records.compareNumber(low, number) == 0)(low)
  }
}

/**
 * The part of a range that one page holds. A task that does not get its records here reads the part
 * from Kinesis.
 */
private[sparkkinesis] final class StoredPart private[store] (
    val range: ShardRange,
    page: StoredPage,
    spill: SpillSpace
) {

  /** `None` if the page has been lost. Reads the page from disk if it is there. */
  def records: Option[PackedRecords] = page.records(range, spill)
}
