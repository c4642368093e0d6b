package sparkkinesis.model

import java.math.BigInteger
import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest

/** A 128-bit number that selects a record's shard: explicit, or the MD5 of the partition key. */
private[sparkkinesis] final case class HashKey(value: BigInt) extends Ordered[HashKey] {
  require(
    value >= 0 && value <= HashKey.MaxValue,
    s"A hash key is a number from 0 to 2^128 - 1, not $value."
  )

  override def compare(that: HashKey): Int = value.compare(that.value)

  override def toString: String = value.toString
}

private[sparkkinesis] object HashKey {
  private val MaxValue = (BigInt(1) << 128) - 1

  val Min: HashKey = HashKey(0)
  val Max: HashKey = HashKey(MaxValue)

  /** The hash key of a partition key. */
  def of(partitionKey: String): HashKey = {
    val md5 = MessageDigest.getInstance("MD5").digest(partitionKey.getBytes(UTF_8))
    HashKey(BigInt(new BigInteger(1, md5)))
  }

  /** Parses an explicit hash key, in decimal digits. `None` if it is invalid. */
  def parse(text: String): Option[HashKey] =
    if (text.matches("0|([1-9]\\d{0,38})")) Some(BigInt(text)).filter(_ <= MaxValue).map(HashKey(_))
    else None
}
