package sparkkinesis.model.aggregate

import java.nio.charset.StandardCharsets.UTF_8

import sparkkinesis.model.{HashKey, PutEntry}

/** What went into a record that [[AggregateBuilder]] made. */
object UserRecords {

  /**
   * The user records again, in their order, each with data of its own. A record that is no aggregate
   * of ours, which the key `a` and an explicit hash key tell, is the one user record itself: so is
   * a user's own aggregate that was written plain. A partition key with half a surrogate pair comes
   * back with `?` in its place, which is what Kinesis would have stored and hashed.
   */
  def of(entry: PutEntry): Vector[PutEntry] = {
    val aggregate = new AggregatedRecord
    val count =
      if (isOurs(entry)) aggregate.open(entry.data, 0, entry.data.length) else 0
    if (count == 0) Vector(entry) else Vector.fill(count)(next(aggregate, entry.data))
  }

  private def isOurs(entry: PutEntry) =
    entry.partitionKey == AggregateBuilder.PartitionKey && entry.explicitHashKey.isDefined

  private def next(aggregate: AggregatedRecord, data: Array[Byte]): PutEntry = {
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
