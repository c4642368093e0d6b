package sparkkinesis.source.store

/** Admits the responses of calls to memory. */
trait Arrivals {

  /**
   * Makes a call whose response waits in the network until there is memory for it.
   *
   * @return the response, and its room, which the caller must close; or the bytes of the response
   *   if there was no memory for them
   */
  def receive[A](call: => A): Either[Long, (A, AutoCloseable)]
}

object Arrivals {

  /** For a reader that holds one page at a time. */
  val Unlimited: Arrivals = new Arrivals {
    override def receive[A](call: => A): Either[Long, (A, AutoCloseable)] = Right(
      call -> (() => ())
    )
  }
}
