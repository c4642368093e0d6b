package sparkkinesis.model.aggregate

import java.nio.charset.StandardCharsets.UTF_8

import sparkkinesis.model.{HashKey, PutEntry}

/** The user records in a record of [[AggregateBuilder]]. */
object UserRecords {

  /**
   * The user records in their order, each with a copy of its data. A record that is not our
   * aggregate, which has the key `a` and an explicit hash key, is itself the only user record. This
   * includes an aggregate that the user wrote as a plain record.
   */
  def of(entry: PutEntry): Vector[PutEntry] = {
    val aggregate = new AggregateReader
    val count =
      if (isOurs(entry)) aggregate.open(entry.data, 0, entry.data.length) else 0
    if (count == 0) Vector(entry) else Vector.fill(count)(next(aggregate, entry.data))
  }

  private def isOurs(entry: PutEntry) =
    entry.partitionKey == AggregateBuilder.PartitionKey && entry.explicitHashKey.isDefined

  private def next(aggregate: AggregateReader, data: Array[Byte]): PutEntry = {
    aggregate.next()
    def text(begin: Int, length: Int) = new String(data, begin, length, UTF_8)
    val hashKey =
      if (aggregate.hasHashKey)
        HashKey.parse(text(aggregate.hashKeyBegin, aggregate.hashKeyLength))
      else None
    PutEntry(
      text(aggregate.partitionKeyBegin, aggregate.partitionKeyLength),
      data.slice(aggregate.dataBegin, aggregate.dataBegin + aggregate.dataLength),
      hashKey
    )
  }
}
