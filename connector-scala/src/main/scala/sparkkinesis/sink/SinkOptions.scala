package sparkkinesis.sink

import java.util.Locale

import scala.concurrent.duration._

import sparkkinesis.client.options.{OptionException, Options}
import sparkkinesis.sink.lane.AggregateLimits

/**
 * How the sink writes. Travels to executors.
 *
 * @param deliveryTimeout a record that Kinesis has not taken so long after it was first sent fails
 *   the task
 * @param linger so long a record waits for others that go with it
 * @param maxInFlightRequests at once, of a task
 * @param maxBufferedBytes of records not yet acknowledged, and 128 for each, of a task
 * @param aggregation how large aggregates become; none: each row is a Kinesis record
 * @param isOrdered whether the records of one key stay in order
 * @param orderBy the column whose order that is, as the user spelt it; none: the order of the rows as
 *   they come
 * @param deadLetters none: a row that cannot be a record fails the task
 */
final case class SinkOptions(
    deliveryTimeout: FiniteDuration = 5.minutes,
    linger: FiniteDuration = 100.millis,
    maxInFlightRequests: Int = 16,
    maxBufferedBytes: Long = 64L * 1024 * 1024,
    aggregation: Option[AggregateLimits] = None,
    isOrdered: Boolean = false,
    orderBy: Option[String] = None,
    deadLetters: Option[DeadLetterOptions] = None
)

object SinkOptions {

  /** Of the sink alone; those of the connection come on top. */
  val Names: Seq[String] = Seq(
    "deliveryTimeout",
    "linger",
    "maxInFlightRequests",
    "maxBufferedBytes",
    "aggregation",
    "maxAggregateBytes",
    "maxAggregateRecords",
    "ordering",
    "orderBy",
    "deadLetterPath",
    "deadLetterFormat"
  )

  /** Every request in flight has a thread. */
  private val MostInFlight = 256

  /** What fills up goes at once: a longer wait would only make rows late. */
  private val LongestLinger = 1.minute

  /** @throws sparkkinesis.client.options.OptionException where a value is wrong, or has no meaning */
  def parse(options: Options): SinkOptions = {
    val default = SinkOptions()
    val isOrdered = choice(options, "ordering", "none", "perKey").contains("perKey")
    SinkOptions(
      options.duration("deliveryTimeout").getOrElse(default.deliveryTimeout),
      linger(options).getOrElse(default.linger),
      inFlight(options).getOrElse(default.maxInFlightRequests),
      options.size("maxBufferedBytes").getOrElse(default.maxBufferedBytes),
      aggregation(options),
      isOrdered,
      orderBy(options, isOrdered),
      deadLetters(options)
    )
  }

  private def linger(options: Options): Option[FiniteDuration] = {
    val said = options.duration("linger")
    said.filter(_ > LongestLinger).foreach { _ =>
      throw options.invalid(
        "linger",
        s"at most ${LongestLinger.toMinutes}m",
        "Leave it out to have 100ms."
      )
    }
    said
  }

  private def inFlight(options: Options): Option[Int] = {
    val requests = options.positiveInt("maxInFlightRequests")
    requests.filter(_ > MostInFlight).foreach { _ =>
      throw options.invalid("maxInFlightRequests", s"at most $MostInFlight", "Use more tasks.")
    }
    requests
  }

  private def aggregation(options: Options): Option[AggregateLimits] = {
    val isKpl = choice(options, "aggregation", "none", "kpl").contains("kpl")
    val default = AggregateLimits()
    val limits = AggregateLimits(
      aggregateBytes(options).getOrElse(default.bytes),
      options.positiveInt("maxAggregateRecords").getOrElse(default.records)
    )
    if (!isKpl) refuseAlone(options, "aggregation=kpl", "maxAggregateBytes", "maxAggregateRecords")
    Some(limits).filter(_ => isKpl)
  }

  private def aggregateBytes(options: Options): Option[Int] =
    options.size("maxAggregateBytes").map { bytes =>
      if (bytes < AggregateLimits.LeastBytes || bytes > AggregateLimits.MostBytes)
        throw options.invalid("maxAggregateBytes", "1k to 1m", "Leave it out to have 50k.")
      bytes.toInt
    }

  private def orderBy(options: Options, isOrdered: Boolean): Option[String] = {
    val column = options.text("orderBy")
    if (!isOrdered) refuseAlone(options, "ordering=perKey", "orderBy")
    column
  }

  private def deadLetters(options: Options): Option[DeadLetterOptions] = {
    val formats = DeadLetterFormat.All
    val said = choice(options, "deadLetterFormat", formats.map(_.name): _*)
    val format = formats.find(it => said.contains(it.name)).getOrElse(DeadLetterFormat.Json)
    val path = options.text("deadLetterPath")
    if (path.isEmpty) refuseAlone(options, "deadLetterPath", "deadLetterFormat")
    path.map(DeadLetterOptions(_, format))
  }

  /** One of two words, in any case, as it is spelt here. */
  private def choice(options: Options, name: String, words: String*): Option[String] =
    options.text(name).map { said =>
      words.find(_.toLowerCase(Locale.ROOT) == said.toLowerCase(Locale.ROOT)).getOrElse {
        throw options.invalid(name, words.mkString(" or "), "Say one of the two.")
      }
    }

  /** What means nothing without another option was given for a reason: it is not left unread. */
  private def refuseAlone(options: Options, other: String, names: String*): Unit =
    names.find(options.contains).foreach { name =>
      throw OptionException.missing(
        s"Option ${options.named(name)} is given without '$other'. " +
          "Give both, or leave it out."
      )
    }
}
