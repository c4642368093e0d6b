package sparkkinesis.simulator.record

import java.math.BigInteger
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.ISO_8859_1

import sparkkinesis.model.SequenceNumber

/**
 * The parts of a sequence number of the simulator, in the layout of the service: 186 bits, 56
 * digits.
 *
 * From the highest bit: 2, the creation of the shard (36 bits), the lowest four bits of the shard,
 * the index of the record (64), 0 (8), the arrival (36), the shard (32), 2 (4). Therefore the
 * numbers of a shard grow with the index, and a later shard has larger numbers.
 *
 * @param created seconds since 1970, later than the creation of the parents
 * @param index 1 for the first record of a shard; 0 for the lowest number of the shard
 * @param arrived seconds since 1970
 */
private[simulator] final case class SequenceParts(
    created: Long,
    index: Long,
    arrived: Long,
    shard: Int
) {
  import SequenceParts._

  def number: SequenceNumber = SequenceNumber(new String(digits, ISO_8859_1))

  /**
   * The digits in ASCII. Computed without `BigInteger`, which takes ten times as long, because this
   * runs for each record.
   */
  def digits: Array[Byte] = {
    val words = Array.fill(Bytes / 4)(0)
    bytes.flip().asIntBuffer.get(words)
    val text = new Array[Byte](Digits)
    var end = Digits
    while (end > 0) {
      write(divide(words, DigitsUnit), text, end)
      end -= DigitsAtOnce
    }
    text
  }

  private def bytes: ByteBuffer = {
    val head = Version << 40 | created << 4 | (shard & 0xfL)
    val tail = arrived << 36 | (shard & 0xffffffffL) << 4 | Version
    val bytes = ByteBuffer.allocate(Bytes).putShort((head >>> 32).toShort).putInt(head.toInt)
    bytes.putLong(index).putShort((arrived >>> 28).toShort).putLong(tail)
  }
}

private[simulator] object SequenceParts {
  private val Version = 2L
  private val Bytes = 24
  private val Bits = 186

  /** Number of digits of each number whose highest two bits are `Version`. */
  private val Digits = 56
  private val DigitsAtOnce = 8
  private val DigitsUnit = 100000000

  /** Number of bits after the index. */
  val IndexShift = 80

  /** Index of a closed shard's last number, which is after every record. */
  val LastIndex: Long = Long.MaxValue

  /** `None` if the number has another layout. */
  def of(number: SequenceNumber): Option[SequenceParts] = {
    val value = new BigInteger(number.text)
    if (value.bitLength != Bits) None
    else {
      val bytes = ByteBuffer.wrap(value.toByteArray)
      val head = bytes.getShort.toLong << 32 | (bytes.getInt & 0xffffffffL)
      val index = bytes.getLong
      val arrivedHigh = (bytes.getShort & 0xffL) << 28
      val tail = bytes.getLong
      Some(
        SequenceParts(
          (head >>> 4) & 0xfffffffffL,
          index,
          arrivedHigh | tail >>> 36,
          (tail >>> 4).toInt
        )
      )
    }
  }

  /** Replaces the words by the quotient, the highest word first, and returns the remainder. */
  private def divide(words: Array[Int], divisor: Int): Int = {
    var remainder = 0L
    var i = 0
    while (i < words.length) {
      val dividend = remainder << 32 | (words(i) & 0xffffffffL)
      words(i) = (dividend / divisor).toInt
      remainder = dividend % divisor
      i += 1
    }
    remainder.toInt
  }

  private def write(number: Int, text: Array[Byte], end: Int): Unit = {
    var rest = number
    var at = end
    while (at > end - DigitsAtOnce) {
      at -= 1
      text(at) = ('0' + rest % 10).toByte
      rest /= 10
    }
  }
}

/** Derives the sequence numbers of one shard's records from their positions. */
private[simulator] final case class ShardNumbering(epoch: Long, shard: Int) {
  def parts(position: Long, arrivalMillis: Long): SequenceParts =
    SequenceParts(epoch, position + 1, arrivalMillis / 1000, shard)
}
