package sparkkinesis

import scala.util.{DynamicVariable, Try}

/** Limits the number of random actions in each phase of a history. The variable `STEPS` sets it. */
object Steps {
  private val most = new DynamicVariable(sys.env.get("STEPS").fold(Int.MaxValue)(_.toInt))

  /** The number that a history has drawn, or the limit if that is less. */
  def apply(drawn: Int): Int = math.min(drawn, most.value)

  /**
   * Halves the steps of a history that has failed, for as long as it still fails. Returns the
   * fewest steps with which it failed, or `None` if it passes with each number tried.
   */
  def shrunk(run: => Any): Option[Int] = Iterator
    .iterate(math.min(Longest, most.value))(_ / 2)
    .takeWhile(steps => steps > 0 && Try(most.withValue(steps)(run)).isFailure)
    .foldLeft(Option.empty[Int])((_, steps) => Some(steps))

  /** The first limit tried. No phase has twice as many actions. */
  private val Longest = 128
}
