package sparkkinesis.source.protocol

/** An executor's connection to the driver's `FetchCoordinator`. */
trait CoordinatorLink {

  /**
   * @throws CoordinatorGone if the query has ended
   * @throws java.lang.Exception if the driver did not answer this time
   */
  def heartbeat(status: FetchStatus): FetchReply
}

/** The coordinator of the query no longer exists. */
final class CoordinatorGone(message: String) extends RuntimeException(message)
