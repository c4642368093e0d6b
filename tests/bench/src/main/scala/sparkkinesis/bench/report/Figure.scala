package sparkkinesis.bench.report

/**
 * @param value one figure for all rounds
 * @param rounds the figure of each round
 */
final case class Figure(value: Double, rounds: Samples) {

  /** The smallest and the largest figure of the rounds; none for a single round. */
  def spread: Option[(Double, Double)] =
    Option.when(rounds.values.size > 1)((rounds.min, rounds.max))
}

object Figure {
  def median(rounds: Samples): Figure = Figure(rounds.median, rounds)
}
