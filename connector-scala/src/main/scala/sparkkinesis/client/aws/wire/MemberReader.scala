package sparkkinesis.client.aws.wire

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Arrays

import sparkkinesis.model.SequenceNumber

/**
 * Reads the members of a message. A subclass stores what it reads.
 *
 * @param body the bytes that `in` reads
 */
private[wire] abstract class MemberReader[In <: ItemReader](
    body: Array[Byte],
    protected val in: In
) {

  /** Reads the value of the member whose name was just read. */
  protected def readMember(): Unit

  /** Returns whether the message was read to its end. */
  final def read(): Boolean =
    try {
      readMembers(readMember())
      in.isAtEnd
    } catch {
      case ItemReader.Unsupported | _: IndexOutOfBoundsException => false
    }

  /** @param readMember called after each name whose value is not null */
  protected final def readMembers(readMember: => Unit): Unit = {
    var left = in.entries()
    while (in.hasMore(left)) {
      in.name()
      if (!in.skipNull()) readMember
      left -= 1
    }
  }

  /** Whether the text that was just read is this one. */
  protected final def isText(text: Array[Byte]): Boolean =
    Arrays.equals(body, in.begin, in.end, text, 0, text.length)

  protected final def readText(): String = {
    in.checkedText()
    new String(body, in.begin, in.end - in.begin, UTF_8)
  }

  /** Reads a sequence number, which stays in the bytes. Later readers rely on its digits. */
  protected final def readDigits(): Unit = {
    in.text()
    var at = in.begin
    while (at < in.end && body(at) >= '0' && body(at) <= '9') at += 1
    val length = in.end - in.begin
    if (at < in.end || length == 0 || length > SequenceNumber.MaxDigits)
      throw ItemReader.Unsupported
  }

  /** Skips a member that the decoder does not know. */
  protected final def skipMember(): Unit = {
    in.checkText() // the name
    in.skip()
  }
}
