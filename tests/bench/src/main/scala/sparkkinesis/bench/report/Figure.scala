package sparkkinesis.bench.report

/**
 * @param value what stands for all rounds
 * @param rounds the same of each round
 */
final case class Figure(value: Double, rounds: Samples) {

  /** The least and the greatest of the rounds; none of a single one. */
  def spread: Option[(Double, Double)] =
    Option.when(rounds.values.size > 1)((rounds.min, rounds.max))
}

object Figure {
  def median(rounds: Samples): Figure = Figure(rounds.median, rounds)
}
