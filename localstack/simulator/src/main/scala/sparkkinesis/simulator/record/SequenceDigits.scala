package sparkkinesis.simulator.record

import java.math.BigInteger

/**
 * The digits of a shard's sequence numbers. Neighbours that arrived in one second differ by a
 * constant: adding it is much cheaper than making a number of many digits, and this is done for
 * every record of every answer.
 */
private[simulator] final class SequenceDigits(numbers: ShardNumbering) {
  import SequenceDigits._

  private var digits = Array.emptyByteArray
  private var position = Long.MinValue
  private var second = Long.MinValue

  /** In ASCII; the array is used again for the next. */
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

  /** The digits, as numbers, of what lies between the sequence numbers of two neighbours. */
  private val Step: Array[Byte] =
    BigInteger.ONE.shiftLeft(SequenceParts.IndexShift).toString.map(c => (c - '0').toByte).toArray
}
