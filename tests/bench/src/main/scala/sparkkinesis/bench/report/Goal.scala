package sparkkinesis.bench.report

/** A bound for a figure. */
final case class Goal(relation: Goal.Relation, bound: Double, of: Goal.Of) {

  /** Whether the goal is met; none if there is nothing to compare, for example no baseline. */
  def isMet(value: Option[Figure], ratio: Option[Figure]): Option[Boolean] = of match {
    case Goal.Value => value.map(figure => relation.holds(figure.value, bound))
    case Goal.Ratio => ratio.map(figure => relation.holds(figure.value, bound))
    case Goal.EachRound => value.map(_.rounds.values.forall(relation.holds(_, bound)))
  }

  /** For example `≥ 0.8 × baseline` or `≤ 250`. */
  def text: String = {
    val number = if (bound.isWhole) bound.toLong.toString else bound.toString
    s"${relation.sign} $number${of.text}"
  }
}

object Goal {
  final case class Relation(sign: String, holds: (Double, Double) => Boolean)

  private val AtLeast = Relation("≥", _ >= _)
  private val AtMost = Relation("≤", _ <= _)
  private val Below = Relation("<", _ < _)

  /** The figure that the goal applies to. */
  sealed abstract class Of(val text: String)
  case object Value extends Of("")
  case object Ratio extends Of(" × baseline")
  case object EachRound extends Of(" in each round")

  def atLeast(bound: Double): Goal = Goal(AtLeast, bound, Value)
  def atMost(bound: Double): Goal = Goal(AtMost, bound, Value)
  def below(bound: Double): Goal = Goal(Below, bound, Value)
  def ratioAtLeast(bound: Double): Goal = Goal(AtLeast, bound, Ratio)
  def ratioAtMost(bound: Double): Goal = Goal(AtMost, bound, Ratio)
  def ratioBelow(bound: Double): Goal = Goal(Below, bound, Ratio)

  /** Zero in each round, because the median of 0, 0 and 5 is 0, too. */
  def never: Goal = Goal(AtMost, 0, EachRound)

  def atLeastInEach(bound: Double): Goal = Goal(AtLeast, bound, EachRound)
}
