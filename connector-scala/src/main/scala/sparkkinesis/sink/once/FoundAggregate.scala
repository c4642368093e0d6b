package sparkkinesis.sink.once

/**
 * An aggregate of the batch that is in the stream.
 *
 * @param rows their hashes, by [[Hash128.encode]]: a batch may have millions
 */
final case class FoundAggregate(writer: WriterIdentity, digest: Hash128, rows: Array[Byte])
