package sparkkinesis.client.aws.wire

/**
 * Reads the items of CBOR ([[https://www.rfc-editor.org/rfc/rfc8949 RFC 8949]]). It refuses strings
 * in chunks and `null`, which the SDK then decodes.
 *
 * Jackson's parser costs twice as much per record (docs/adr/0013-libraries-or-own-code.md).
 */
private[aws] final class CborReader(bytes: Array[Byte]) extends ItemReader(bytes) {
  import CborReader._
  import ItemReader._

  private var kind = 0
  private var info = 0

  override def isAtEnd: Boolean = at == bytes.length

  override def name(): Unit = text()

  override def text(): Unit = string(Text)

  override def blob(): Unit = string(Bytes)

  override def millis(): Long = number()

  override def skipNull(): Boolean = false

  override def number(): Long = {
    head()
    kind match {
      case Unsigned => argument()
      case Negative => -1 - argument()
      case Simple if info == Float64 => whole(java.lang.Double.longBitsToDouble(argument()))
      case Simple if info == Float32 =>
        whole(java.lang.Float.intBitsToFloat(argument().toInt).toDouble)
      case _ => throw Unsupported
    }
  }

  /** Refuses numbers that are too large for a `Long`, infinite or not a number. */
  private def whole(number: Double): Long =
    if (math.abs(number) < MaxWhole) number.toLong else throw Unsupported

  /** Reads an unsigned integer and checks that it is at most `most`. */
  def checkCount(most: Long): Unit = {
    head()
    if (kind != Unsigned || argument() > most) throw Unsupported
  }

  override def entries(): Long = items(Entries)

  override def elements(): Long = items(Elements)

  override def hasMore(left: Long): Boolean =
    if (left >= 0) left > 0
    else {
      val isEnd = bytes(at) == Break
      if (isEnd) at += 1
      !isEnd
    }

  /** The number of items, or a negative one if a break follows the last item. */
  private def items(expected: Int): Long = {
    head()
    if (kind != expected) throw Unsupported
    if (info == Indefinite) -1 else argument()
  }

  override def skip(): Unit = skip(MaxDepth)

  private def skip(depth: Int): Unit = {
    if (depth == 0) throw Unsupported
    val start = at
    head()
    kind match {
      case Text =>
        at = start
        checkedText()
      case Bytes =>
        at = start
        blob()
      case Elements =>
        at = start
        skipItems(elements(), depth, isMap = false)
      case Entries =>
        at = start
        skipItems(entries(), depth, isMap = true)
      case Simple if info == OneByte => throw Unsupported // no such value is defined
      case _ =>
        argument()
        ()
    }
  }

  private def skipItems(count: Long, depth: Int, isMap: Boolean): Unit = {
    var left = count
    while (hasMore(left)) {
      if (isMap) checkedText()
      skip(depth - 1)
      left -= 1
    }
  }

  private def string(expected: Int): Unit = {
    head()
    if (kind != expected) throw Unsupported
    val length = argument()
    if (length > bytes.length - at) throw Unsupported
    stringBegin = at
    at += length.toInt
    stringEnd = at
  }

  /** Reads the type of the next item. Skips the tag of a time, and refuses every other tag. */
  private def head(): Unit = {
    next()
    if (kind == Tag) {
      if (argument() != EpochTime) throw Unsupported
      next()
      if (kind == Tag) throw Unsupported
    }
  }

  private def next(): Unit = {
    kind = (bytes(at) & 0xff) >>> 5
    info = bytes(at) & 0x1f
    at += 1
  }

  /** The number in the head of an item: a value or a length. */
  private def argument(): Long =
    if (info < OneByte) info.toLong
    else if (info > EightBytes) throw Unsupported
    else {
      val until = at + (1 << (info - OneByte))
      var value = 0L
      while (at < until) {
        value = value << 8 | (bytes(at) & 0xffL)
        at += 1
      }
      if (value < 0 && kind != Simple) throw Unsupported // more than 63 bits
      value
    }
}

private object CborReader {
  private val Unsigned = 0
  private val Negative = 1
  private val Bytes = 2
  private val Text = 3
  private val Elements = 4
  private val Entries = 5
  private val Tag = 6
  private val Simple = 7

  private val EpochTime = 1L

  private val OneByte = 24
  private val EightBytes = 27
  private val Float32 = 26
  private val Float64 = 27
  private val Indefinite = 31
  private val Break = 0xff.toByte

  /** Far below the limit of a `Long`. */
  private val MaxWhole = 1e18
}
