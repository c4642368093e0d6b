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
private[sparkkinesis] final case class Record(
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

private[sparkkinesis] object Record {

  /** The two encryption types of the service; one object for all records. */
  val NotEncrypted: Option[String] = Some("NONE")
  val EncryptedByKms: Option[String] = Some("KMS")
}

/**
 * A record to write.
 *
 * @param partitionKey 1 to 256 Unicode characters
 * @param explicitHashKey selects the shard instead of the MD5 of the partition key
 * @param hasRandomKey whether the partition key has no meaning, so that another one is as good
 */
private[sparkkinesis] final case class PutEntry(
    partitionKey: String,
    data: Array[Byte],
    explicitHashKey: Option[HashKey],
    hasRandomKey: Boolean = false
) {

  /** The size that the service's limits apply to: data plus partition key in UTF-8. */
  val size: Int = data.length + PutEntry.utf8Length(partitionKey)

  /** The hash key that selects the shard. */
  def hashKey: HashKey = explicitHashKey.getOrElse(HashKey.of(partitionKey))
}

private[sparkkinesis] object PutEntry {

  /**
   * A partition key of 16 characters. The MD5 hashes of such keys spread evenly over the hash keys.
   *
   * @param bits random; the highest one does not count
   */
  def randomKey(bits: Long): String =
    java.lang.Long.toHexString(bits | Long.MinValue) // which keeps the leading zeros

  /** Runs for every record, so it does not encode the text. */
  private def utf8Length(text: String): Int = {
    var (bytes, i) = (0, 0)
    while (i < text.length) {
      val c = text.charAt(i)
      bytes += (if (c < 0x80) 1 else if (c < 0x800 || Character.isSurrogate(c)) 2 else 3)
      i += 1
    }
    bytes
  }
}
