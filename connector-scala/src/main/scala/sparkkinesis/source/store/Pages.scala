package sparkkinesis.source.store

import sparkkinesis.compat._

/** The pages of a shard, in order. */
private[store] final case class Pages(all: Vector[StoredPage], bytes: Long, marks: Double) {

  def +(page: StoredPage): Pages = Pages(all :+ page, bytes + page.bytes, marks + page.marks)

  /**
   * The pages that go to disk together: the last page, and the small ones before it. A block of its
   * own for each small page would take as much memory as the page.
   *
   * @param least bytes of a block; the result is empty if it would be smaller
   */
  def block(least: Long): Vector[StoredPage] = {
    val most = if (Pages.isSmall(all.last)) Pages.MostBytes else 0L
    var (first, size) = (all.size - 1, all.last.bytes)
    while (first > 0 && size < most && Pages.isSmall(all(first - 1))) {
      first -= 1
      size += all(first).bytes
    }
    if (size >= math.max(least, 2 * StoredPage.EntryBytes)) all.drop(first) else Vector.empty
  }

  /** These pages with one page instead of several; `None` if the several are not there any more. */
  def replaced(pages: Vector[StoredPage], page: StoredPage): Option[Pages] = {
    val index = all.indexOfSlice(pages)
    Option.when(index >= 0)(copy(all = all.patch(index, Vector(page), pages.size)))
  }
}

private[store] object Pages {
  val Empty: Pages = Pages(Vector.empty, 0, 0)

  /** The entry of a page on disk takes 1 KB of memory, and should be a small part of the page. */
  val SmallBytes: Long = 64L * 1024

  /** A block is copied before it is written. */
  private val MostBytes = 1L << 20

  def of(all: Vector[StoredPage]): Pages =
    Pages(all, all.map(_.bytes).sum, all.map(_.marks).sum)

  private def isSmall(page: StoredPage): Boolean =
    page.onDisk.isEmpty && page.bytes < SmallBytes
}
