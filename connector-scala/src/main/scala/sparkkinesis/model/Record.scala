package sparkkinesis.model

import java.util.Arrays

/**
 * A record that was read.
 *
 * @param partitionKey 1 to 256 characters; `None` on streams with `AUTO` record distribution
 * @param data may be empty; shared, never modified
 * @param arrivalMillis approximate arrival timestamp, in milliseconds since 1970-01-01 UTC
 * @param encryptionType `NONE` or `KMS`; `None` if the response does not contain it
 */
final case class Record(
    sequenceNumber: SequenceNumber,
    partitionKey: Option[String],
    data: Array[Byte],
    arrivalMillis: Long,
    encryptionType: Option[String]
) {

  /** Compares the content of the data. */
  override def equals(other: Any): Boolean = other match {
    case that: Record =>
      sequenceNumber == that.sequenceNumber && partitionKey == that.partitionKey &&
      Arrays.equals(data, that.data) && arrivalMillis == that.arrivalMillis &&
      encryptionType == that.encryptionType
    case _ => false
  }

  override def hashCode: Int = sequenceNumber.hashCode
}

object Record {

  /** The two encryption types of the service; one object for all records. */
  val NotEncrypted: Option[String] = Some("NONE")
  val EncryptedByKms: Option[String] = Some("KMS")
}

/**
 * A record to write.
 *
 * @param partitionKey 1 to 256 Unicode characters
 * @param explicitHashKey selects the shard instead of the MD5 of the partition key
 */
final case class PutEntry(
    partitionKey: String,
    data: Array[Byte],
    explicitHashKey: Option[HashKey]
) {

  /** The hash key that selects the shard. */
  def hashKey: HashKey = explicitHashKey.getOrElse(HashKey.of(partitionKey))
}
