package sparkkinesis.model

import java.util.Arrays

/**
 * A record as it was read.
 *
 * @param partitionKey 1 to 256 characters; `None` on streams with `AUTO` record distribution
 * @param data the blob, perhaps empty. Shared, never written to.
 * @param arrivalMillis approximate arrival, milliseconds since 1970 UTC
 * @param encryptionType `NONE` or `KMS`; `None` where the service did not say
 */
final case class Record(
    sequenceNumber: SequenceNumber,
    partitionKey: Option[String],
    data: Array[Byte],
    arrivalMillis: Long,
    encryptionType: Option[String]
) {

  /** By content, the data's too. */
  override def equals(other: Any): Boolean = other match {
    case that: Record =>
      sequenceNumber == that.sequenceNumber && partitionKey == that.partitionKey &&
      Arrays.equals(data, that.data) && arrivalMillis == that.arrivalMillis &&
      encryptionType == that.encryptionType
    case _ => false
  }

  override def hashCode: Int = sequenceNumber.hashCode
}

/**
 * A record to be written.
 *
 * @param partitionKey 1 to 256 Unicode characters
 * @param explicitHashKey chooses the shard in place of the partition key's MD5
 */
final case class PutEntry(
    partitionKey: String,
    data: Array[Byte],
    explicitHashKey: Option[HashKey]
) {

  /** What chooses the shard. */
  def hashKey: HashKey = explicitHashKey.getOrElse(HashKey.of(partitionKey))
}
