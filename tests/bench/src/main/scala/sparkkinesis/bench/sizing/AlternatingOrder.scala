package sparkkinesis.bench.sizing

/** What is compared is measured by turns: who came first leaves a warmer machine, or a dirtier one. */
object AlternatingOrder {

  /** Both, in an order that changes with each round; the first one first in round 0. */
  def both[A, B](round: Int)(first: => A, second: => B): (A, B) =
    if (round % 2 == 0) {
      val a = first
      (a, second)
    } else {
      val b = second
      (first, b)
    }
}
