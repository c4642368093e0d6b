package sparkkinesis.bench

/**
 * A row of the report.
 *
 * @param name begins with the scenario's and a colon; tells rows apart
 * @param value the median of the rounds; none where it could not be measured
 * @param spread the least and the greatest of the rounds
 * @param baseline the median of the same figure of the raw SDK loop, where there is one
 * @param note why there is no value
 */
final case class Result(
    name: String,
    unit: String,
    value: Option[Double],
    spread: Option[(Double, Double)],
    baseline: Option[Double],
    goal: Option[Goal],
    note: Option[String]
) {
  def ratio: Option[Double] = for {
    ours <- value
    raw <- baseline if raw > 0
  } yield ours / raw

  /** A goal that nothing was measured for is missed. */
  def isMet: Option[Boolean] = goal.map(_.isMet(value, ratio).contains(true))
}

object Result {

  def measured(
      name: String,
      unit: String,
      ours: Samples,
      raw: Option[Samples] = None,
      goal: Option[Goal] = None
  ): Result = Result(
    name,
    unit,
    Some(ours.median),
    Some((ours.min, ours.max)),
    raw.map(_.median),
    goal,
    note = None
  )

  /** Against the raw loop, with a goal for the ratio or without. */
  def compared(name: String, unit: String, ours: Samples, raw: Samples, goal: Goal*): Result =
    measured(name, unit, ours, Some(raw), goal.headOption)

  def missing(name: String, unit: String, reason: String, goal: Goal*): Result =
    Result(name, unit, None, None, None, goal.headOption, Some(reason))
}
