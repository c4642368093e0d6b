package sparkkinesis.sink.once

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest

import scala.util.hashing.MurmurHash3

import sparkkinesis.model.PutEntry

/** A hash of 128 bits. Equal hashes count as equal content. */
private[sparkkinesis] final case class Hash128(hi: Long, lo: Long)

private[sparkkinesis] object Hash128 {
  val Bytes = 16

  /** The hash of a row: partition key and data. A query writes to one stream. */
  def ofRow(entry: PutEntry): Hash128 = {
    val key = entry.partitionKey.getBytes(UTF_8)
    val sha = MessageDigest.getInstance("SHA-256")
    sha.update(ByteBuffer.allocate(Integer.BYTES).putInt(key.length).array)
    sha.update(key)
    read(ByteBuffer.wrap(sha.digest(entry.data)))
  }

  /** The digest at the end of an aggregate. Its tag makes it unique. */
  def ofAggregate(data: Array[Byte]): Hash128 =
    read(ByteBuffer.wrap(data, data.length - Bytes, Bytes))

  /** Travels between driver and executors. */
  def encode(hashes: Iterable[Hash128]): Array[Byte] = {
    val bytes = ByteBuffer.allocate(hashes.size * Bytes)
    hashes.foreach(it => bytes.putLong(it.hi).putLong(it.lo))
    bytes.array
  }

  def decode(bytes: Array[Byte]): Iterator[Hash128] = {
    val rest = ByteBuffer.wrap(bytes)
    Iterator.continually(rest).takeWhile(_.hasRemaining).map(read)
  }

  private def read(bytes: ByteBuffer) = Hash128(bytes.getLong(), bytes.getLong())
}

/**
 * How many rows, and which, in any order.
 *
 * @param sum of hashes of the rows, with overflow
 */
private[sparkkinesis] final case class RowTotal(rows: Long, sum: Long) {
  def +(that: RowTotal): RowTotal = RowTotal(rows + that.rows, sum + that.sum)
}

private[sparkkinesis] object RowTotal {
  val Zero: RowTotal = RowTotal(0, 0)

  /** The total of one row. Its hash is cheap and equal in every JVM. */
  def of(entry: PutEntry): RowTotal =
    RowTotal(1, MurmurHash3.bytesHash(entry.data, entry.partitionKey.hashCode).toLong)
}
