package sparkkinesis.client

/** Room in memory for the responses of a thread's calls. */
trait ResponseRoom {

  /**
   * A client calls this before it reads a response from the network. Waits until there is room.
   *
   * @param bytes size of the response
   * @throws InterruptedException if the thread is interrupted while it waits
   */
  def await(bytes: Long): Unit
}

object ResponseRoom {
  private val Unlimited: ResponseRoom = _ => ()
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
