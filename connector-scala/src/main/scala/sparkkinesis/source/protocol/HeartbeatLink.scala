package sparkkinesis.source.protocol

/** An executor's connection to the driver of its query. */
private[sparkkinesis] trait HeartbeatLink {

  /**
   * @throws QueryGone if the query has ended
   * @throws java.lang.Exception if the driver did not answer this time
   */
  def heartbeat(status: Heartbeat): HeartbeatReply
}

/** The driver does not know the query any more. */
private[sparkkinesis] final class QueryGone(message: String) extends RuntimeException(message)
