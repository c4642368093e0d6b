package sparkkinesis.model

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest

/** A hash key as two unsigned longs: what is asked for every row makes no big numbers. */
object HashKeyBits {

  /** The upper 64 bits. */
  def hi(key: HashKey): Long = (key.value >> 64).toLong

  /** The lower 64 bits. */
  def lo(key: HashKey): Long = key.value.toLong

  /** Below, at or above zero, as the first of the two hash keys is below, at or above the other. */
  def compare(hi: Long, lo: Long, otherHi: Long, otherLo: Long): Int = {
    val upper = java.lang.Long.compareUnsigned(hi, otherHi)
    if (upper != 0) upper else java.lang.Long.compareUnsigned(lo, otherLo)
  }
}

/** [[HashKey.of]], key after key, as [[HashKeyBits]]. For one thread. */
final class KeyHash {
  private val md5 = MessageDigest.getInstance("MD5")
  private val digest = new Array[Byte](16)
  private val number = ByteBuffer.wrap(digest)

  /** From now on `hi` and `lo` are of this key. */
  def hash(partitionKey: String): Unit = {
    md5.update(partitionKey.getBytes(UTF_8))
    md5.digest(digest, 0, digest.length)
    ()
  }

  /** Of the record's own explicit hash key, or else of its partition key. */
  def hash(entry: PutEntry): Unit = entry.explicitHashKey match {
    case None => hash(entry.partitionKey)
    case Some(key) =>
      number.putLong(0, HashKeyBits.hi(key)).putLong(8, HashKeyBits.lo(key))
      ()
  }

  def hi: Long = number.getLong(0)

  def lo: Long = number.getLong(8)
}
