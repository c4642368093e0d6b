package sparkkinesis.model

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest

/**
 * A hash key as two unsigned longs, for code that runs for every row and must not create objects.
 */
private[sparkkinesis] object HashKeyBits {

  /** The upper 64 bits. */
  def hi(key: HashKey): Long = (key.value >> 64).toLong

  /** The lower 64 bits. */
  def lo(key: HashKey): Long = key.value.toLong

  /** Compares two hash keys: negative, zero or positive, like `Ordering.compare`. */
  def compare(hi: Long, lo: Long, otherHi: Long, otherLo: Long): Int = {
    val upper = java.lang.Long.compareUnsigned(hi, otherHi)
    if (upper != 0) upper else java.lang.Long.compareUnsigned(lo, otherLo)
  }
}

/**
 * Computes [[HashKey.of]] for one key after the other, in the form of [[HashKeyBits]]. Not
 * thread-safe.
 */
private[sparkkinesis] final class PartitionKeyHasher {
  private val md5 = MessageDigest.getInstance("MD5")
  private val digest = new Array[Byte](16)
  private val number = ByteBuffer.wrap(digest)

  /** Sets `hi` and `lo` to the hash key of this partition key. */
  def hash(partitionKey: String): Unit = {
    md5.update(partitionKey.getBytes(UTF_8))
    md5.digest(digest, 0, digest.length)
    ()
  }

  /** Sets `hi` and `lo` to the explicit hash key of the record, or to that of its partition key. */
  def hash(entry: PutEntry): Unit = entry.explicitHashKey match {
    case None => hash(entry.partitionKey)
    case Some(key) =>
      number.putLong(0, HashKeyBits.hi(key)).putLong(8, HashKeyBits.lo(key))
      ()
  }

  def hi: Long = number.getLong(0)

  def lo: Long = number.getLong(8)
}
