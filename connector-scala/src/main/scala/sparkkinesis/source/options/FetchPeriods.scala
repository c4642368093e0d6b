package sparkkinesis.source.options

import scala.concurrent.duration._

import sparkkinesis.client.options.{OptionException, Options}
import sparkkinesis.model.ServiceLimits

/** How often a shard is asked, as a user said. */
private[source] object FetchPeriods {
  private val DefaultIdle = 1.second

  /** An iterator must outlive the pause, the part that chance adds to it, and a late call. */
  private val Longest = ServiceLimits.IteratorLifetime - 1.minute

  /** Between two calls to a shard that has data. */
  def min(options: Options): FiniteDuration =
    period(options, "minFetchPeriod").getOrElse(ServiceLimits.GetRecordsPeriod)

  /** The longest between two calls to a shard that has none. */
  def idle(options: Options): FiniteDuration = {
    val said = period(options, "idleFetchPeriod")
    for (idle <- said; min <- period(options, "minFetchPeriod") if idle < min)
      throw OptionException.conflicting(
        s"Option ${options.named("idleFetchPeriod")} is $idle, shorter than " +
          s"${options.named("minFetchPeriod")}, $min. Raise it, or leave it out."
      )
    said.getOrElse(DefaultIdle)
  }

  private def period(options: Options, name: String): Option[FiniteDuration] = {
    val said = options.duration(name)
    said.filter(_ > Longest).foreach { _ =>
      throw options.invalid(
        name,
        s"at most ${Longest.toMinutes}m",
        s"A shard's place is forgotten by Kinesis after ${ServiceLimits.IteratorLifetime}."
      )
    }
    said
  }
}
