package sparkkinesis.bench

/** What a figure, or its ratio to the raw loop's, is to be. */
final case class Goal(relation: Goal.Relation, bound: Double, isOfRatio: Boolean) {

  /** None where there is nothing to compare, as without a baseline. */
  def isMet(value: Option[Double], ratio: Option[Double]): Option[Boolean] =
    (if (isOfRatio) ratio else value).map(relation.holds(_, bound))

  /** Such as `≥ 0.8 × baseline` or `≤ 250`. */
  def text: String = {
    val number = if (bound.isWhole) bound.toLong.toString else bound.toString
    s"${relation.sign} $number${if (isOfRatio) " × baseline" else ""}"
  }
}

object Goal {
  final case class Relation(sign: String, holds: (Double, Double) => Boolean)

  private val AtLeast = Relation("≥", _ >= _)
  private val AtMost = Relation("≤", _ <= _)
  private val Below = Relation("<", _ < _)

  def atLeast(bound: Double): Goal = Goal(AtLeast, bound, isOfRatio = false)
  def atMost(bound: Double): Goal = Goal(AtMost, bound, isOfRatio = false)
  def below(bound: Double): Goal = Goal(Below, bound, isOfRatio = false)
  def ratioAtLeast(bound: Double): Goal = Goal(AtLeast, bound, isOfRatio = true)
  def ratioAtMost(bound: Double): Goal = Goal(AtMost, bound, isOfRatio = true)
  def ratioBelow(bound: Double): Goal = Goal(Below, bound, isOfRatio = true)
}
