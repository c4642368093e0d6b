package sparkkinesis.client.aws.wire

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Arrays

/** Reads the members of a response in CBOR. A subclass stores what it reads. */
private[wire] abstract class CborResponse(body: Array[Byte]) {
  protected val in: CborReader = new CborReader(body)

  /** Reads the value of the member whose name was just read. */
  protected def readMember(): Unit

  /** Returns whether the response was read to its end. Otherwise the SDK must decode it. */
  final def read(): Boolean =
    try {
      var left = in.entries()
      while (in.hasMore(left)) {
        in.text()
        readMember()
        left -= 1
      }
      in.isAtEnd
    } catch {
      case CborReader.Unsupported | _: IndexOutOfBoundsException => false
    }

  /** Whether the text that was just read is this one. */
  protected final def isText(text: Array[Byte]): Boolean =
    Arrays.equals(body, in.begin, in.end, text, 0, text.length)

  protected final def readText(): String = {
    in.checkedText()
    new String(body, in.begin, in.end - in.begin, UTF_8)
  }

  /** Skips a member that the decoder does not know. */
  protected final def skipMember(): Unit = {
    in.checkText() // the name
    in.skip()
  }
}
