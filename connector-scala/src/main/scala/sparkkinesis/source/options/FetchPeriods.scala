package sparkkinesis.source.options

import scala.concurrent.duration._

import sparkkinesis.client.options.{OptionException, Options}
import sparkkinesis.model.ServiceLimits

/** The periods between two `GetRecords` calls to one shard, from the options. */
private[source] object FetchPeriods {
  private val DefaultIdle = 1.second

  /** An iterator must live longer than the period, its jitter, and the delay of the call. */
  private val Longest = ServiceLimits.IteratorLifetime - 1.minute

  /** The period for a shard that has records. */
  def min(options: Options): FiniteDuration =
    period(options, "minFetchPeriod").getOrElse(ServiceLimits.GetRecordsPeriod)

  /** The longest period for a shard that has none. */
  def idle(options: Options): FiniteDuration = {
    val idlePeriod = period(options, "idleFetchPeriod")
    for (idle <- idlePeriod; min <- period(options, "minFetchPeriod") if idle < min)
      throw OptionException.conflicting(
        s"Option ${options.named("idleFetchPeriod")} is $idle, which is shorter than " +
          s"${options.named("minFetchPeriod")}, $min. Use a longer period, or remove the option."
      )
    idlePeriod.getOrElse(DefaultIdle)
  }

  private def period(options: Options, name: String): Option[FiniteDuration] = {
    val period = options.duration(name)
    period.filter(_ > Longest).foreach { _ =>
      throw options.invalid(
        name,
        s"at most ${Longest.toMinutes}m",
        s"A shard iterator expires after ${ServiceLimits.IteratorLifetime}."
      )
    }
    period
  }
}
