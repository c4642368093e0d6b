package sparkkinesis.source.store

import scala.collection.mutable

/**
 * A disk in memory. After a page could not be written it is closed, until a call finds that it
 * works.
 *
 * @param fails whether the next call fails
 */
final class FakeSpill(fails: () => Boolean = () => false) extends SpillSpace {
  private val pages = mutable.Map.empty[Long, PageBytes]
  private var written = 0L
  private var isClosed = false

  override def isOpen: Boolean = synchronized {
    isClosed &&= fails()
    !isClosed
  }

  override def write(page: PageBytes): Option[Long] = synchronized {
    isClosed = fails()
    if (isClosed) None
    else {
      written += 1
      pages.update(written, page)
      Some(written)
    }
  }

  override def read(id: Long): Option[PageBytes] = synchronized {
    if (fails()) None else pages.get(id)
  }

  override def remove(id: Long): Unit = synchronized(pages.remove(id)): Unit

  /** The pages that were written and not removed. */
  def size: Int = synchronized(pages.size)

  /** Loses all pages. */
  def lose(): Unit = synchronized(pages.clear())
}
