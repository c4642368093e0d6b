package sparkkinesis.sink

import scala.concurrent.duration._

import sparkkinesis.client.Options

/**
 * How the sink writes. Travels to executors.
 *
 * @param deliveryTimeout a record that Kinesis has not taken after this long fails the task
 * @param maxInFlightRequests at once, of a task
 * @param maxBufferedBytes of records not yet acknowledged, of a task
 */
final case class SinkOptions(
    deliveryTimeout: FiniteDuration = 5.minutes,
    maxInFlightRequests: Int = 16,
    maxBufferedBytes: Long = 64L * 1024 * 1024
)

object SinkOptions {

  /** Of the sink alone; those of the connection come on top. */
  val Names: Seq[String] = Seq("deliveryTimeout", "maxInFlightRequests", "maxBufferedBytes")

  /** Every request in flight has a thread. */
  private val MostInFlight = 256

  /** @throws sparkkinesis.client.OptionException where a value is wrong */
  def parse(options: Options): SinkOptions = {
    val default = SinkOptions()
    SinkOptions(
      options.duration("deliveryTimeout").getOrElse(default.deliveryTimeout),
      inFlight(options).getOrElse(default.maxInFlightRequests),
      options.size("maxBufferedBytes").getOrElse(default.maxBufferedBytes)
    )
  }

  private def inFlight(options: Options): Option[Int] = {
    val requests = options.positiveInt("maxInFlightRequests")
    requests.filter(_ > MostInFlight).foreach { _ =>
      throw options.invalid("maxInFlightRequests", s"at most $MostInFlight", "Use more tasks.")
    }
    requests
  }
}
