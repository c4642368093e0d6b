package sparkkinesis.simulator

import java.math.BigInteger
import java.nio.ByteBuffer

import sparkkinesis.model.SequenceNumber

/**
 * What a sequence number of ours is made of, laid out as the service lays out its own: 186 bits,
 * 56 digits.
 *
 * From the highest bit: 2, the shard's creation (36 bits), the shard's lowest four bits, the index
 * of the record (64), 0 (8), the arrival (36), the shard (32), 2 (4). So numbers of a shard grow
 * with the index, and a shard created later has the greater ones.
 *
 * @param created seconds since 1970, later than the parents' own
 * @param index 1 for a shard's first record; 0 for the lowest number the shard can hold
 * @param arrived seconds since 1970
 */
private[simulator] final case class SequenceParts(
    created: Long,
    index: Long,
    arrived: Long,
    shard: Int
) {
  import SequenceParts._

  def number: SequenceNumber = {
    val head = Version << 40 | created << 4 | (shard & 0xfL)
    val tail = arrived << 36 | (shard & 0xffffffffL) << 4 | Version
    val bytes = ByteBuffer.allocate(Bytes).putShort((head >>> 32).toShort).putInt(head.toInt)
    bytes.putLong(index).putShort((arrived >>> 28).toShort).putLong(tail)
    SequenceNumber(new BigInteger(1, bytes.array).toString)
  }
}

private[simulator] object SequenceParts {
  private val Version = 2L
  private val Bytes = 24
  private val Bits = 186

  /** The bits behind the index. */
  val IndexShift = 80

  /** The index of a closed shard's last number: behind every record. */
  val LastIndex: Long = Long.MaxValue

  /** `None` where the number is not of this layout. */
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
}
