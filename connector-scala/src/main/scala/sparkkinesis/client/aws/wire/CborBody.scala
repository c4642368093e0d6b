package sparkkinesis.client.aws.wire

/**
 * Writes a CBOR text ([[https://www.rfc-editor.org/rfc/rfc8949 RFC 8949]]) of a length known before.
 *
 * @param length what [[CborBody.itemLength]] and the single bytes of `begin` and `end` add up to
 */
private[aws] final class CborBody(length: Int) {
  import CborBody._

  private val bytes = new Array[Byte](length)
  private var at = 0

  /** All that was written. Shared, not to be written to. */
  def result(): Array[Byte] = {
    require(at == length, s"$at bytes were written of $length.")
    bytes
  }

  def beginMap(): Unit = byte(OpenMap)

  def beginArray(): Unit = byte(OpenArray)

  /** Of the innermost map or array. */
  def end(): Unit = byte(Break)

  /** @param utf8 the text's encoding */
  def text(utf8: Array[Byte]): Unit = item(Text, utf8)

  def blob(data: Array[Byte]): Unit = item(Bytes, data)

  private def item(kind: Int, content: Array[Byte]): Unit = {
    head(kind, content.length)
    System.arraycopy(content, 0, bytes, at, content.length)
    at += content.length
  }

  /** The shortest that tells the length. */
  private def head(kind: Int, length: Int): Unit = headLength(length) match {
    case 1 => byte(kind << 5 | length)
    case 2 => number(kind << 5 | 24, length, 1)
    case 3 => number(kind << 5 | 25, length, 2)
    case _ => number(kind << 5 | 26, length, 4)
  }

  private def number(first: Int, value: Int, width: Int): Unit = {
    byte(first)
    var shift = width * 8
    while (shift > 0) {
      shift -= 8
      byte(value >>> shift)
    }
  }

  private def byte(value: Int): Unit = {
    bytes(at) = value.toByte
    at += 1
  }
}

private[aws] object CborBody {
  private val Bytes = 2
  private val Text = 3

  /** Of no length said, as the SDK writes them. */
  private val OpenMap = 0xbf
  private val OpenArray = 0x9f
  private val Break = 0xff

  /** Of a text or a blob with so many bytes. */
  def itemLength(content: Int): Long = headLength(content).toLong + content

  private def headLength(length: Int): Int =
    if (length < 24) 1
    else if (length < 0x100) 2
    else if (length < 0x10000) 3
    else 5
}
