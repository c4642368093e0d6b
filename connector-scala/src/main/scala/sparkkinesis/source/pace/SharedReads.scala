package sparkkinesis.source.pace

/**
 * What all readers of one stream on one executor share, so that the calls of many shards stay
 * within the quotas of the stream and of the account. Thread-safe.
 *
 * @param isAws whether the stream's endpoint is one of AWS, so that its quotas are known
 */
final class SharedReads(isAws: Boolean) extends AutoCloseable {
  val paces = new StreamPaces(isAws)
  val listing = new SharedListing
  val retention = new SharedRetention

  /** Nothing to close: a pool keeps it while somebody reads the stream. */
  override def close(): Unit = ()
}
