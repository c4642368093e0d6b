package sparkkinesis.source.fetch

import sparkkinesis.model.ServiceLimits
import sparkkinesis.shard.FetchMemory

/** What a shard's pages say about the next one. Used by one thread at a time. */
private[source] final class NextPage {

  /** Bytes of recent pages in the store: for small records far more than their data. */
  private var recent = Option.empty[Long]
  private var ofRecord = NextPage.FirstRecordBytes // mean of the last page with records
  private var isRefused = false

  /** Whether no page was read yet. */
  def isFirst: Boolean = recent.isEmpty

  /** The bytes that it is expected to take in the store: a little more than recent pages. */
  def bytes: Long = recent.fold(ServiceLimits.ReadBytesPerSecond) { recent =>
    math.min(FetchMemory.LargestPage, math.max(NextPage.LeastBytes, recent * 9 / 8))
  }

  /** Whether there was no memory for the last page. */
  def wasTooLarge: Boolean = isRefused

  /**
   * Number of records that the next page should have at most.
   *
   * @param bytes that it should take in the store at most
   */
  def limit(bytes: Long): Int =
    math.max(1, math.min(ServiceLimits.GetRecordsCount.toLong, bytes / ofRecord)).toInt

  /** A page took so many bytes in the store. The estimate rises at once and falls slowly. */
  def stored(bytes: Long, records: Int): Unit = {
    if (records > 0) ofRecord = math.max(1, bytes / records)
    recent = Some(math.max(bytes, recent.fold(bytes)(_ * 7 / 8)))
    isRefused = false
  }

  /** Remembers that the page has so many bytes, and that there was no memory for it. */
  def tooLarge(bytes: Long): Unit = {
    recent = Some(bytes)
    isRefused = true
  }
}

private object NextPage {
  private val LeastBytes = 64L * 1024
  private val FirstRecordBytes = 1024L
}
