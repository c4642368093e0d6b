package sparkkinesis.sink

import scala.concurrent.duration._

import sparkkinesis.client.options._
import sparkkinesis.sink.SinkTable._

/**
 * The options of the sink. The driver sends them to executors.
 *
 * @param deliveryTimeout the task fails if Kinesis has not accepted a record so long after it was
 *   first sent
 * @param requestTimeout limit for one request and its response
 * @param givenLinger how long a record waits for others that are sent with it; none: the default of
 *   the mode
 * @param maxInFlightRequests per task
 * @param maxRequestRecords Kinesis records per request
 * @param maxRequestBytes of their data and partition keys. A larger record is sent alone
 * @param maxBufferedBytes of records that are not acknowledged, plus 128 bytes per record, per task
 * @param aggregation limits of aggregated records; none: each row becomes one Kinesis record
 * @param isOrdered whether the records of one partition key stay in order
 * @param orderBy the column that defines the order, as the user wrote it; none: the order in which
 *   the rows arrive
 * @param deadLetters where rows go that Kinesis cannot accept; none: such a row fails the task
 * @param isExactlyOnce whether rows that an earlier attempt wrote are not written again
 * @param writeId names a batch write: the same in every run of its job
 */
private[sparkkinesis] final case class SinkOptions(
    deliveryTimeout: FiniteDuration = DeliveryTimeout.default,
    requestTimeout: FiniteDuration = RequestTimeout.default,
    givenLinger: Option[FiniteDuration] = None,
    maxInFlightRequests: Int = MaxInFlightRequests.default,
    maxRequestRecords: Int = MaxRequestRecords.default,
    maxRequestBytes: Long = MaxRequestBytes.default,
    maxBufferedBytes: Long = MaxBufferedBytes.default,
    aggregation: Option[AggregateLimits] = None,
    isOrdered: Boolean = false,
    orderBy: Option[String] = None,
    deadLetters: Option[DeadLetterOptions] = None,
    isExactlyOnce: Boolean = false,
    writeId: Option[String] = None
) {

  /** The options of a task in real-time mode, which runs for minutes. */
  def inRealTime: SinkOptions =
    copy(givenLinger = givenLinger.orElse(Some(SinkOptions.RealTimeLinger)))

  /** How long a record waits for others that are sent with it. */
  def linger: FiniteDuration = givenLinger.getOrElse(Linger.default)
}

/**
 * Where rows are written that Kinesis cannot accept.
 *
 * @param path of a folder in a Hadoop file system
 * @param keepsLateRecords whether records that a shard does not take in time are written there, too
 */
private[sparkkinesis] final case class DeadLetterOptions(
    path: String,
    keepsLateRecords: Boolean = false
)

private[sparkkinesis] object SinkOptions {
  private val RealTimeLinger = 5.millis

  /** Leaves time to look into the stream and to write again. */
  private val LeastOnceTimeout = 3.minutes

  /** Every option of the sink. */
  val All: Seq[OptionSpec[_]] = ConnectionTable.all ++ SinkTable.all

  /** @throws OptionException if a value is invalid or has no effect */
  def parse(options: Options): SinkOptions = {
    val isExactlyOnce = options(DeliveryGuarantee) == "exactlyOnce"
    val aggregation = limits(options)
    if (isExactlyOnce) checkOnce(options, aggregation)
    SinkOptions(
      options(DeliveryTimeout),
      options(RequestTimeout),
      options.get(Linger),
      options(MaxInFlightRequests),
      options(MaxRequestRecords),
      options(MaxRequestBytes),
      options(MaxBufferedBytes),
      aggregation,
      options(Ordering) == "perKey",
      options.get(OrderBy),
      deadLetters(options),
      isExactlyOnce,
      options.get(WriteId)
    )
  }

  private def limits(options: Options): Option[AggregateLimits] = {
    val limits = AggregateLimits(options(MaxAggregateBytes).toInt, options(MaxAggregateRecords))
    Some(limits).filter(_ => options(Aggregation) == "kpl")
  }

  private def checkOnce(options: Options, aggregation: Option[AggregateLimits]): Unit = {
    if (aggregation.isEmpty)
      throw OptionException.missing(
        "Option 'deliveryGuarantee' is exactlyOnce, which keeps the identity of the writer in " +
          "aggregates. Set option 'aggregation' to kpl, and read the stream with a consumer that " +
          "deaggregates."
      )
    if (options(DeliveryTimeout) < LeastOnceTimeout)
      throw options.invalid(
        DeliveryTimeout,
        s"at least ${LeastOnceTimeout.toMinutes}m with exactlyOnce",
        "The sink waits 60 s for a request without an answer before it looks into the stream."
      )
  }

  private def deadLetters(options: Options): Option[DeadLetterOptions] = {
    val keepsLate = options(OnDeliveryTimeout) == "deadLetter"
    if (keepsLate) checkLateRecords(options)
    options.get(DeadLetterPath).map(DeadLetterOptions(_, keepsLate))
  }

  private def checkLateRecords(options: Options): Unit = {
    if (!options.contains(DeadLetterPath))
      throw OptionException.missing(
        "Option 'onDeliveryTimeout' is deadLetter, and option 'deadLetterPath' is missing. Set " +
          "it to a folder, or set this option to fail."
      )
    for ((option, word) <- Seq(Ordering -> "perKey", DeliveryGuarantee -> "exactlyOnce"))
      if (options(option) == word)
        throw OptionException.conflicting(
          s"Option 'onDeliveryTimeout'=deadLetter cannot be combined with " +
            s"'${option.name}'=$word: records would be missing from the " +
            "stream. Remove one of the two."
        )
  }
}
