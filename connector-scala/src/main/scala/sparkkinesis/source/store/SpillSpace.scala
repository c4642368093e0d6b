package sparkkinesis.source.store

/**
 * Room for pages outside of the heap. No method throws: pages are only a copy of what Kinesis
 * holds. Safe for use by many threads.
 */
private[sparkkinesis] trait SpillSpace {

  /** Whether pages can be written at this time. */
  def isOpen: Boolean

  /** @return the identity of the written page; `None` if there is no room or writing failed */
  def write(page: PageBytes): Option[Long]

  /** @return `None` if the page cannot be read any more */
  def read(id: Long): Option[PageBytes]

  def remove(id: Long): Unit
}

private[sparkkinesis] object SpillSpace {

  /** Has no room. */
  object Off extends SpillSpace {
    override def isOpen: Boolean = false
    override def write(page: PageBytes): Option[Long] = None
    override def read(id: Long): Option[PageBytes] = None
    override def remove(id: Long): Unit = ()
  }
}
