package sparkkinesis.client.aws.wire

import java.nio.ByteBuffer
import java.nio.charset.CharacterCodingException
import java.nio.charset.StandardCharsets.UTF_8

import scala.util.control.NoStackTrace

/**
 * Reads the items of a message one after the other. It gives the place of a string in the bytes
 * instead of a copy. It throws [[ItemReader.Unsupported]] for an item of another type than
 * requested, and `IndexOutOfBoundsException` if the bytes end within an item.
 */
private[aws] abstract class ItemReader(bytes: Array[Byte]) {
  protected var at = 0
  protected var stringBegin = 0
  protected var stringEnd = 0

  /** Index of the first byte of the last string. */
  final def begin: Int = stringBegin

  /** Index after the last byte of the last string. */
  final def end: Int = stringEnd

  /** Whether all items were read. */
  def isAtEnd: Boolean

  /** Reads the name of a member. */
  def name(): Unit

  def text(): Unit

  def blob(): Unit

  /** Reads an integer, or the whole part of another number. */
  def number(): Long

  /** Reads a time, in milliseconds since the epoch. */
  def millis(): Long

  /** Skips an item that means that there is no value. Otherwise nothing happens. */
  def skipNull(): Boolean

  /**
   * Reads the head of a map. While `hasMore`, read a `name` and a value. This is a loop and not a
   * function that takes one, because it runs once per record.
   *
   * @return number of entries, for `hasMore`; negative if it is unknown
   */
  def entries(): Long

  /** Reads the head of an array. While `hasMore`, read an element. */
  def elements(): Long

  /**
   * Whether a map or an array has another item.
   *
   * @param left the number from its head, minus the number of items since
   */
  def hasMore(left: Long): Boolean

  /** Skips an item of any type. */
  def skip(): Unit

  /** Reads a text and checks that it is UTF-8. */
  final def checkedText(): Unit = {
    text()
    checkText()
  }

  /** Checks that the last string is UTF-8. */
  final def checkText(): Unit = if (!isAscii) requireUtf8()

  private def isAscii: Boolean = {
    var i = stringBegin
    while (i < stringEnd && bytes(i) >= 0) i += 1
    i == stringEnd
  }

  private def requireUtf8(): Unit =
    try {
      UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes, stringBegin, stringEnd - stringBegin))
      ()
    } catch { case _: CharacterCodingException => throw ItemReader.Unsupported }
}

private[aws] object ItemReader {
  object Unsupported extends RuntimeException with NoStackTrace

  /** Deepest nesting of items that are skipped. */
  private[wire] val MaxDepth = 64
}
