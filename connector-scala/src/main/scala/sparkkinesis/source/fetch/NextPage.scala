package sparkkinesis.source.fetch

import sparkkinesis.model.ServiceLimits
import sparkkinesis.source.memory.FetchMemory

/** What a shard's pages say about the next one. Used by one thread at a time. */
private[fetch] final class NextPage {
  private var last = Option.empty[PageEstimate]

  /** Whether no page was read yet. */
  def isFirst: Boolean = last.isEmpty

  /** The bytes that the next page is expected to take in the store. */
  def bytes: Long = last.fold(ServiceLimits.ReadBytesPerSecond)(_.nextBytes)

  /** A page took so many bytes in the store. */
  def stored(bytes: Long): Unit = last = Some(last.fold(PageEstimate(bytes))(_.after(bytes)))

  /** Remembers that the page has so many bytes, and that there was no memory for it. */
  def tooLarge(bytes: Long): Unit = last = Some(PageEstimate(bytes))
}

/**
 * @param bufferedBytes bytes of recent pages in the store: for small records far more than their
 *   data
 */
private[source] final case class PageEstimate(bufferedBytes: Long) {

  /** Expected bytes of the next page in the store: a little more than recent pages. */
  def nextBytes: Long = {
    val likely = math.max(PageEstimate.MinBytes, bufferedBytes * 9 / 8)
    math.min(FetchMemory.LargestPage, likely)
  }

  /** The estimate after another page. It rises at once and falls slowly. */
  def after(buffered: Long): PageEstimate =
    PageEstimate(math.max(buffered, bufferedBytes * 7 / 8))
}

private[source] object PageEstimate {
  private val MinBytes = 64L * 1024
}
