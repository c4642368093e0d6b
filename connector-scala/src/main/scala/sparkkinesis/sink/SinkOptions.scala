package sparkkinesis.sink

import java.util.Locale

import scala.concurrent.duration._

import sparkkinesis.client.options.{OptionException, Options}

/**
 * The options of the sink. The driver sends them to executors.
 *
 * @param deliveryTimeout the task fails if Kinesis has not accepted a record so long after it was
 *   first sent
 * @param linger how long a record waits for others that are sent with it
 * @param maxInFlightRequests per task
 * @param maxBufferedBytes of records that are not acknowledged, plus 128 bytes per record, per task
 * @param aggregation limits of aggregated records; none: each row becomes one Kinesis record
 * @param isOrdered whether the records of one partition key stay in order
 * @param orderBy the column that defines the order, as the user wrote it; none: the order in which
 *   the rows arrive
 * @param deadLetters where rows go that Kinesis cannot accept; none: such a row fails the task
 * @param isExactlyOnce whether rows that an earlier attempt wrote are not written again
 */
final case class SinkOptions(
    deliveryTimeout: FiniteDuration = 5.minutes,
    linger: FiniteDuration = 100.millis,
    maxInFlightRequests: Int = 16,
    maxBufferedBytes: Long = 64L * 1024 * 1024,
    aggregation: Option[AggregateLimits] = None,
    isOrdered: Boolean = false,
    orderBy: Option[String] = None,
    deadLetters: Option[DeadLetterOptions] = None,
    isExactlyOnce: Boolean = false
)

object SinkOptions {

  /** The names of the sink's own options, without those of the connection. */
  val Names: Seq[String] = Seq(
    "deliveryGuarantee",
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

  /** Leaves time to look into the stream and to write again. */
  private val LeastOnceTimeout = 3.minutes

  /** Every request in flight uses a thread. */
  private val MostInFlight = 256

  /** A full request is sent at once, so a longer wait only delays rows. */
  private val LongestLinger = 1.minute

  /** @throws sparkkinesis.client.options.OptionException if a value is invalid or has no effect */
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
      deadLetters(options),
      isExactlyOnce(options)
    )
  }

  private def isExactlyOnce(options: Options): Boolean = {
    val name = "deliveryGuarantee"
    val isSet = choice(options, name, "atLeastOnce", "exactlyOnce").contains("exactlyOnce")
    if (isSet && aggregation(options).isEmpty)
      throw OptionException.missing(
        s"Option ${options.named(name)} is exactlyOnce, which keeps the identity of the writer in " +
          "aggregates. Set option 'aggregation' to kpl, and read the stream with a consumer that " +
          "deaggregates."
      )
    if (isSet) options.duration("deliveryTimeout").filter(_ < LeastOnceTimeout).foreach { _ =>
      throw options.invalid(
        "deliveryTimeout",
        s"at least ${LeastOnceTimeout.toMinutes}m with exactlyOnce",
        "The sink waits 60 s for a request without an answer before it looks into the stream."
      )
    }
    isSet
  }

  private def linger(options: Options): Option[FiniteDuration] = {
    val linger = options.duration("linger")
    linger.filter(_ > LongestLinger).foreach { _ =>
      throw options.invalid(
        "linger",
        s"at most ${LongestLinger.toMinutes}m",
        "Remove the option to use the default, 100ms."
      )
    }
    linger
  }

  private def inFlight(options: Options): Option[Int] = {
    val requests = options.positiveInt("maxInFlightRequests")
    requests.filter(_ > MostInFlight).foreach { _ =>
      throw options.invalid(
        "maxInFlightRequests",
        s"at most $MostInFlight",
        "Use more tasks to send more requests at a time."
      )
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
        throw options.invalid(
          "maxAggregateBytes",
          "1k to 1m",
          "Remove the option to use the default, 50k."
        )
      bytes.toInt
    }

  private def orderBy(options: Options, isOrdered: Boolean): Option[String] = {
    val column = options.text("orderBy")
    if (!isOrdered) refuseAlone(options, "ordering=perKey", "orderBy")
    column
  }

  private def deadLetters(options: Options): Option[DeadLetterOptions] = {
    val formats = DeadLetterFormat.All
    val name = choice(options, "deadLetterFormat", formats.map(_.name): _*)
    val format = formats.find(it => name.contains(it.name)).getOrElse(DeadLetterFormat.Json)
    val path = options.text("deadLetterPath")
    if (path.isEmpty) refuseAlone(options, "deadLetterPath", "deadLetterFormat")
    path.map(DeadLetterOptions(_, format))
  }

  /** One of the given words. The user may write it in any case. */
  private def choice(options: Options, name: String, words: String*): Option[String] =
    options.text(name).map { text =>
      words.find(_.toLowerCase(Locale.ROOT) == text.toLowerCase(Locale.ROOT)).getOrElse {
        throw options.invalid(name, words.mkString(" or "), "Use one of these words.")
      }
    }

  /** An option without effect is an error: the user gave it for a reason. */
  private def refuseAlone(options: Options, other: String, names: String*): Unit =
    names.find(options.contains).foreach { name =>
      throw OptionException.missing(
        s"Option ${options.named(name)} has no effect without '$other'. " +
          "Set both options, or remove this one."
      )
    }
}
