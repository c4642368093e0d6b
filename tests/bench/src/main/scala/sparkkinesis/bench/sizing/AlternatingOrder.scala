package sparkkinesis.bench.sizing

/**
 * Runs two measurements in an order that changes with each round, because the first one leaves a
 * warmer or slower machine to the second.
 */
object AlternatingOrder {

  /**
   * Runs both, the first one first in round 0, and returns the results in the order of the
   * arguments.
   */
  def both[A, B](round: Int)(first: => A, second: => B): (A, B) =
    if (round % 2 == 0) {
      val a = first
      (a, second)
    } else {
      val b = second
      (first, b)
    }
}
