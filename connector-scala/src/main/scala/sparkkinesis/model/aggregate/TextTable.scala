package sparkkinesis.model.aggregate

import java.nio.charset.StandardCharsets.UTF_8
import java.util.HashMap

/**
 * A table of texts in an aggregate, each of them once. Asked again about the key it was asked about
 * last, the same object, it looks nothing up: a record is measured before it is added.
 *
 * @param tag of the table's field
 * @param text as it is written
 */
private[model] final class TextTable[K <: AnyRef](tag: Int, text: K => String) {
  import TextTable._

  private var indexes = new HashMap[K, Integer]
  private val fields = new ProtobufBytes
  private var last: AnyRef = NoKey
  private var lastIndex = 0
  private var lastText = Array.emptyByteArray

  /** Of all keys added. */
  def length: Int = fields.length

  /** The key's place in the table, or the place it would get. */
  def index(key: K): Int = {
    lookUp(key)
    lastIndex
  }

  /** How many bytes longer the table were with this key, too. */
  def growth(key: K): Int = {
    lookUp(key)
    if (isNew) TagBytes + ProtobufBytes.spanLength(lastText.length) else 0
  }

  /** Unless it is there. */
  def add(key: K): Unit = {
    lookUp(key)
    if (isNew) {
      indexes.put(key, lastIndex)
      fields.varint(tag)
      fields.span(lastText)
    }
  }

  /** @return behind what was copied */
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

private object TextTable {
  private val NoKey = new AnyRef
  private val Absent = Integer.valueOf(-1)
  private val TagBytes = 1

  /** A larger table is given up with its aggregate: emptying it takes as long as it is large. */
  private val KeptKeys = 512
}
