package sparkkinesis.bench.report

/**
 * A row of the report.
 *
 * @param name starts with the scenario's name and a colon, and is unique
 * @param value none if it could not be measured
 * @param baseline the figure of the raw SDK loop, if there is one
 * @param ratio ratio of value and baseline, round by round
 * @param note why there is no value
 */
final case class Result(
    name: String,
    unit: String,
    value: Option[Figure],
    baseline: Option[Figure],
    ratio: Option[Figure],
    goal: Option[Goal],
    note: Option[String]
) {

  /** Whether the goal is met. Without a value it is missed. */
  def isMet: Option[Boolean] = goal.map(_.isMet(value, ratio).contains(true))
}

object Result {
  def measured(name: String, unit: String, ours: Samples, goal: Goal*): Result =
    Result(name, unit, Some(Figure.median(ours)), None, None, goal.headOption, note = None)

  /**
   * A comparison with the raw loop, with or without a goal for the ratio.
   *
   * @param raw figures of the same rounds
   */
  def compared(name: String, unit: String, ours: Samples, raw: Samples, goal: Goal*): Result = {
    val ratio = ratios(ours, raw).map(Figure.median)
    val (value, baseline) = (Figure.median(ours), Figure.median(raw))
    Result(name, unit, Some(value), Some(baseline), ratio, goal.headOption, note = None)
  }

  /** The same for figures other than the medians of the rounds. */
  def compared(name: String, unit: String, ours: Figure, raw: Figure, goal: Goal*): Result = {
    val ratio = ratios(ours.rounds, raw.rounds).map(Figure(ours.value / raw.value, _))
    Result(name, unit, Some(ours), Some(raw), ratio, goal.headOption, note = None)
  }

  def missing(name: String, unit: String, reason: String, goal: Goal*): Result =
    Result(name, unit, None, None, None, goal.headOption, Some(reason))

  /** The ratio of each round; none if a baseline is zero. */
  private def ratios(ours: Samples, raw: Samples): Option[Samples] = {
    require(ours.values.size == raw.values.size, "Rounds are compared one by one.")
    Option.when(raw.min > 0) {
      Samples(ours.values.zip(raw.values).map { case (a, b) => a / b })
    }
  }
}
