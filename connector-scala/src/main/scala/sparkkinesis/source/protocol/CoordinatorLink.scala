package sparkkinesis.source.protocol

/** The way to the driver's [[FetchCoordinator]]. */
trait CoordinatorLink {

  /**
   * @throws CoordinatorGone where the query has ended
   * @throws java.lang.Exception where the driver did not answer this time
   */
  def heartbeat(status: FetchStatus): FetchReply
}

/** The query's driver side no longer exists. */
final class CoordinatorGone(message: String) extends RuntimeException(message)
