package sparkkinesis.model.aggregate

import java.nio.charset.StandardCharsets.UTF_8
import java.util.HashMap

/**
 * The table of partition keys or of explicit hash keys in an aggregate. It contains each key once.
 * It caches the last key, because a record is measured before it is added.
 *
 * @param tag tag of the table's field
 * @param text the form in which a key is written
 */
private[model] final class KeyTable[K <: AnyRef](tag: Int, text: K => String) {
  import KeyTable._

  private var indexes = new HashMap[K, Integer]
  private val fields = new ProtobufWriter
  private var last: AnyRef = NoKey
  private var lastIndex = 0
  private var lastText = Array.emptyByteArray

  /** Number of bytes of all keys added. */
  def length: Int = fields.length

  /** Index of the key in the table, or the index that it would get. */
  def index(key: K): Int = {
    lookUp(key)
    lastIndex
  }

  /** Number of bytes that the key adds to the table. 0 if the table contains it. */
  def growth(key: K): Int = {
    lookUp(key)
    if (isNew) TagBytes + ProtobufWriter.spanLength(lastText.length) else 0
  }

  /** Adds the key unless the table contains it. */
  def add(key: K): Unit = {
    lookUp(key)
    if (isNew) {
      indexes.put(key, lastIndex)
      fields.varint(tag)
      fields.span(lastText)
    }
  }

  /** @return index after the last byte copied */
  def copyTo(target: Array[Byte], begin: Int): Int = fields.copyTo(target, begin)

  def clear(): Unit = {
    if (indexes.size > KeptKeys) indexes = new HashMap[K, Integer] else indexes.clear()
    fields.clear()
    last = NoKey
  }

  private def isNew: Boolean = lastIndex == indexes.size

  private def lookUp(key: K): Unit = if (key ne last) {
    val found = indexes.getOrDefault(key, Absent)
    lastIndex = if (found < 0) indexes.size else found
    if (isNew) lastText = text(key).getBytes(UTF_8)
    last = key
  }
}

private object KeyTable {
  private val NoKey = new AnyRef
  private val Absent = Integer.valueOf(-1)
  private val TagBytes = 1

  /**
   * A larger table is replaced instead of cleared, which would take time in proportion to its size.
   */
  private val KeptKeys = 512
}
