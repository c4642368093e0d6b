package sparkkinesis.model.aggregate

import java.nio.charset.StandardCharsets.UTF_8

import sparkkinesis.KplAggregates.SubRecord

/** The records that [[AggregateReader]] reads, as values. */
final class SubRecords {
  private val aggregate = new AggregateReader

  /** None of a plain record. The bytes lie between others, which must not matter. */
  def read(
      record: Array[Byte],
      before: Seq[Int] = Nil,
      after: Seq[Int] = Nil
  ): Vector[SubRecord] = {
    val page = before.map(_.toByte).toArray ++ record ++ after.map(_.toByte)
    val (begin, end) = (before.length, before.length + record.length)
    Vector.fill(aggregate.open(page, begin, record.length)) {
      aggregate.next()
      def slice(from: Int, length: Int) = {
        require(from >= begin && length >= 0 && from + length <= end, "outside of the record")
        page.slice(from, from + length)
      }
      def text(from: Int, length: Int) = new String(slice(from, length), UTF_8)
      SubRecord(
        text(aggregate.partitionKeyBegin, aggregate.partitionKeyLength),
        slice(aggregate.dataBegin, aggregate.dataLength).toVector,
        Option.when(aggregate.hasHashKey)(text(aggregate.hashKeyBegin, aggregate.hashKeyLength))
      )
    }
  }
}

object SubRecords {
  def read(record: Array[Byte], before: Seq[Int] = Nil, after: Seq[Int] = Nil): Vector[SubRecord] =
    new SubRecords().read(record, before, after)
}
