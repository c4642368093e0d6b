package sparkkinesis.sink.once

import scala.util.hashing.MurmurHash3

import sparkkinesis.model.PutEntry

/**
 * How many rows, and which, in any order.
 *
 * @param sum of hashes of the rows, with overflow
 */
final case class RowTotal(rows: Long, sum: Long) {
  def +(that: RowTotal): RowTotal = RowTotal(rows + that.rows, sum + that.sum)
}

object RowTotal {
  val Zero: RowTotal = RowTotal(0, 0)

  /** The total of one row. Its hash is cheap and equal in every JVM. */
  def of(entry: PutEntry): RowTotal =
    RowTotal(1, MurmurHash3.bytesHash(entry.data, entry.partitionKey.hashCode).toLong)
}
