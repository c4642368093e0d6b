package sparkkinesis.simulator.record

import java.math.BigInteger

/**
 * The digits of a shard's sequence numbers. The numbers of consecutive records that arrived in the
 * same second differ by a constant, and adding it is much cheaper than computing a number. This
 * runs for each record of each response.
 */
private[simulator] final class SequenceDigits(numbers: ShardNumbering) {
  import SequenceDigits._

  private var digits = Array.emptyByteArray
  private var position = Long.MinValue
  private var second = Long.MinValue

  /** The digits in ASCII. The array is reused for the next number. */
  def of(position: Long, arrivalMillis: Long): Array[Byte] = {
    val arrived = arrivalMillis / 1000
    if (arrived == second && position == this.position + 1) add()
    else if (arrived != second || position != this.position)
      digits = numbers.parts(position, arrivalMillis).digits
    this.position = position
    second = arrived
    digits
  }

  private def add(): Unit = {
    var carry = 0
    var place = 1
    while (place <= Step.length || carry > 0) {
      val at = digits.length - place
      val added = if (place <= Step.length) Step(Step.length - place) else 0
      val sum = digits(at) + added + carry
      carry = if (sum > '9') 1 else 0
      digits(at) = (sum - 10 * carry).toByte
      place += 1
    }
  }
}

private object SequenceDigits {

  /** The difference of two consecutive sequence numbers, as digits. */
  private val Step: Array[Byte] =
    BigInteger.ONE.shiftLeft(SequenceParts.IndexShift).toString.map(c => (c - '0').toByte).toArray
}
