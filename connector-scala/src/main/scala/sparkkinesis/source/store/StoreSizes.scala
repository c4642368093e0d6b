package sparkkinesis.source.store

/**
 * Limits of a store that is alone on its executor, in bytes.
 *
 * @param memory for pages in memory and for pages that were requested
 * @param disk for pages on disk; 0 if all stay in memory
 */
final case class StoreSizes(memory: Long, disk: Long)

object StoreSizes {
  private val MostDefaultBytes = 1L << 30
  private val HeapParts = 6
  private val LargestHeapPart = 2

  /**
   * @param memory from the options; by default a sixth of the heap, at most 1 GB
   * @param heap of the executor's JVM
   */
  def of(memory: Option[Long], disk: Long, heap: Long): StoreSizes =
    StoreSizes(memory.getOrElse(math.min(MostDefaultBytes, heap / HeapParts)), disk)

  /** What to do if the memory part is too large for the heap. */
  def warning(memory: Option[Long], heap: Long): Option[String] =
    memory.filter(_ > heap / LargestHeapPart).map { bytes =>
      s"Option 'fetchBufferSize' is $bytes bytes, which is more than half of this executor's " +
        s"heap of $heap bytes. Use a smaller value, or raise 'spark.executor.memory' " +
        "('spark.driver.memory' in local mode)."
    }
}
