package sparkkinesis.spark.write

import sparkkinesis.model.{Printable, ServiceLimits}

/**
 * The reason why a row cannot become a record. Every reason has a name here.
 *
 * @param reason a stable name, such as `NULL_DATA`
 * @param text a clause that begins with the column
 */
private[spark] sealed abstract class BadRow(val reason: String, val text: String)

private[spark] object BadRow {
  case object NullData extends BadRow("NULL_DATA", "column 'data' is null")

  case object NullKey
      extends BadRow(
        "NULL_PARTITION_KEY",
        "column 'partitionKey' is null, and ordering=perKey and deliveryGuarantee=exactlyOnce " +
          "need a key"
      )

  case object EmptyKey extends BadRow("EMPTY_PARTITION_KEY", "column 'partitionKey' is empty")

  final case class LongKey(characters: Int)
      extends BadRow(
        "LONG_PARTITION_KEY",
        s"column 'partitionKey' has $characters characters, and Kinesis allows " +
          s"${ServiceLimits.PartitionKeyCharacters}"
      )

  final case class InvalidKey(bytes: Seq[Byte])
      extends BadRow(
        "INVALID_PARTITION_KEY",
        s"column 'partitionKey' is not valid UTF-8: its first bytes are " +
          bytes.take(16).map(byte => f"$byte%02x").mkString(" ")
      )

  final case class NoHashKey(found: String)
      extends BadRow(
        "BAD_HASH_KEY",
        s"column 'explicitHashKey' is '${Printable(found, 60)}', not a whole number from 0 to " +
          "2^128 - 1"
      )

  /** @param bytes of data and partition key together */
  final case class TooLarge(bytes: Long, most: Int)
      extends BadRow(
        "RECORD_TOO_LARGE",
        s"columns 'data' and 'partitionKey' take $bytes bytes, and the stream allows $most"
      )

  final case class NullStream(column: String)
      extends BadRow(
        "NULL_STREAM",
        s"column '$column' is null, and no option names a stream"
      )

  final case class NoStreamName(found: String)
      extends BadRow(
        "BAD_STREAM",
        s"column 'stream' is '${Printable(found, 200)}', not a stream name: 1 to 128 of a-z, " +
          "A-Z, 0-9, _ . -"
      )

  final case class NoStreamArn(found: String)
      extends BadRow(
        "BAD_STREAM",
        s"column 'streamArn' is '${Printable(found, 200)}', not a stream ARN such as " +
          "arn:aws:kinesis:eu-west-1:123456789012:stream/orders"
      )

  /** @param why the write cannot reach the stream with its options */
  final case class OutOfReach(column: String, why: String)
      extends BadRow("STREAM_OUT_OF_REACH", s"column '$column' names a stream that $why")

  /** @param message of the service */
  final case class StreamNotFound(column: String, message: String)
      extends BadRow(
        "STREAM_NOT_FOUND",
        s"column '$column' names a stream that does not exist: $message"
      )
}
