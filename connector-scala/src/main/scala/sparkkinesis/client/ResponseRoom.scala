package sparkkinesis.client

/** Room in memory for the responses of a thread's calls. */
private[sparkkinesis] trait ResponseRoom {

  /**
   * A client calls this before it reads a response from the network. Waits for room.
   *
   * @param bytes size of the response
   * @return whether there is room; if not, the client fails the call
   * @throws InterruptedException if the thread is interrupted while it waits
   */
  def await(bytes: Long): Boolean
}

private[sparkkinesis] object ResponseRoom {
  private val Unlimited: ResponseRoom = _ => true
  private val current = ThreadLocal.withInitial[ResponseRoom](() => Unlimited)

  /** The room for responses to this thread's calls. */
  def ofThread: ResponseRoom = current.get

  /** Runs calls on this thread whose responses need room. */
  def limiting[A](room: ResponseRoom)(calls: => A): A = {
    current.set(room)
    try calls
    finally current.remove()
  }
}
