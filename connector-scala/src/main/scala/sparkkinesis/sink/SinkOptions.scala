package sparkkinesis.sink

import scala.concurrent.duration._

import sparkkinesis.client.Options

/**
 * How the sink writes. Travels to executors.
 *
 * @param deliveryTimeout a record that Kinesis has not taken so long after it was first sent fails
 *   the task
 * @param linger so long a record waits for others that go with it
 * @param maxInFlightRequests at once, of a task
 * @param maxBufferedBytes of records not yet acknowledged, of a task
 * @param aggregation how large aggregates become; none: each row is a Kinesis record
 * @param isOrdered whether the records of one key stay in order
 */
final case class SinkOptions(
    deliveryTimeout: FiniteDuration = 5.minutes,
    linger: FiniteDuration = 100.millis,
    maxInFlightRequests: Int = 16,
    maxBufferedBytes: Long = 64L * 1024 * 1024,
    aggregation: Option[AggregateLimits] = None,
    isOrdered: Boolean = false
)

/**
 * How large an aggregate becomes at most.
 *
 * @param bytes of the Kinesis record, its partition key included
 * @param records in it
 */
final case class AggregateLimits(bytes: Int = 50 * 1024, records: Int = 10000)

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
    "ordering"
  )

  /** Every request in flight has a thread. */
  private val MostInFlight = 256

  /** @throws sparkkinesis.client.OptionException where a value is wrong */
  def parse(options: Options): SinkOptions = {
    val default = SinkOptions()
    SinkOptions(
      options.duration("deliveryTimeout").getOrElse(default.deliveryTimeout),
      options.duration("linger").getOrElse(default.linger),
      inFlight(options).getOrElse(default.maxInFlightRequests),
      options.size("maxBufferedBytes").getOrElse(default.maxBufferedBytes),
      aggregation(options),
      isOrdered(options)
    )
  }

  private def aggregation(options: Options): Option[AggregateLimits] =
    options.text("aggregation").map(_.toLowerCase(java.util.Locale.ROOT)) match {
      case None | Some("none") => None
      case Some("kpl") =>
        val default = AggregateLimits()
        Some(
          AggregateLimits(
            options.size("maxAggregateBytes").fold(default.bytes)(_.toInt),
            options.positiveInt("maxAggregateRecords").getOrElse(default.records)
          )
        )
      case Some(_) => throw options.invalid("aggregation", "none or kpl", "Say one of the two.")
    }

  private def isOrdered(options: Options): Boolean =
    options.text("ordering").map(_.toLowerCase(java.util.Locale.ROOT)) match {
      case None | Some("none") => false
      case Some("perkey") => true
      case Some(_) => throw options.invalid("ordering", "none or perKey", "Say one of the two.")
    }

  private def inFlight(options: Options): Option[Int] = {
    val requests = options.positiveInt("maxInFlightRequests")
    requests.filter(_ > MostInFlight).foreach { _ =>
      throw options.invalid("maxInFlightRequests", s"at most $MostInFlight", "Use more tasks.")
    }
    requests
  }
}
