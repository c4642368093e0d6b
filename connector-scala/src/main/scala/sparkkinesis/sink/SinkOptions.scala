package sparkkinesis.sink

import java.util.Locale

import scala.concurrent.duration._

import sparkkinesis.client.options.{OptionException, Options}
import sparkkinesis.model.ServiceLimits

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
final case class SinkOptions(
    deliveryTimeout: FiniteDuration = 5.minutes,
    requestTimeout: FiniteDuration = 10.seconds,
    givenLinger: Option[FiniteDuration] = None,
    maxInFlightRequests: Int = 16,
    maxRequestRecords: Int = ServiceLimits.PutRecordsCount,
    maxRequestBytes: Long = 5L * 1024 * 1024,
    maxBufferedBytes: Long = 64L * 1024 * 1024,
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
  def linger: FiniteDuration = givenLinger.getOrElse(SinkOptions.DefaultLinger)
}

/**
 * Where rows are written that Kinesis cannot accept.
 *
 * @param path of a folder in a Hadoop file system
 * @param keepsLateRecords whether records that a shard does not take in time are written there, too
 */
final case class DeadLetterOptions(path: String, keepsLateRecords: Boolean = false)

object SinkOptions {
  private val DefaultLinger = 100.millis
  private val RealTimeLinger = 5.millis

  /** The names of the sink's own options, without those of the connection. */
  val Names: Seq[String] = Seq(
    "deliveryGuarantee",
    "writeId",
    "deliveryTimeout",
    "requestTimeout",
    "linger",
    "maxInFlightRequests",
    "maxRequestRecords",
    "maxRequestBytes",
    "maxBufferedBytes",
    "aggregation",
    "maxAggregateBytes",
    "maxAggregateRecords",
    "ordering",
    "orderBy",
    "deadLetterPath",
    "onDeliveryTimeout"
  )

  private val LimitOfPutRecords = "This is the limit of PutRecords."

  /** Leaves time to look into the stream and to write again. */
  private val LeastOnceTimeout = 3.minutes

  /** The pattern of a `writeId`, which names a folder and is a word in the tag of an aggregate. */
  private val WriteId = "[A-Za-z0-9][A-Za-z0-9._-]{0,127}"

  private val LeastRequestTimeout = 1.second

  /** The limit of all other calls. */
  private val MostRequestTimeout = 30.seconds

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
      requestTimeout(options).getOrElse(default.requestTimeout),
      linger(options),
      inFlight(options).getOrElse(default.maxInFlightRequests),
      requestRecords(options).getOrElse(default.maxRequestRecords),
      requestBytes(options).getOrElse(default.maxRequestBytes),
      options.size("maxBufferedBytes").getOrElse(default.maxBufferedBytes),
      aggregation(options),
      isOrdered,
      orderBy(options, isOrdered),
      deadLetters(options),
      isExactlyOnce(options),
      writeId(options)
    )
  }

  private def writeId(options: Options): Option[String] = {
    if (!isExactlyOnce(options) && !options.contains("deadLetterPath"))
      refuseAlone(options, "deliveryGuarantee=exactlyOnce' or 'deadLetterPath", "writeId")
    val id = options.text("writeId")
    if (!id.forall(_.matches(WriteId)))
      throw options.invalid(
        "writeId",
        "1 to 128 of a-z, A-Z, 0-9, _ . -, and a letter or digit first",
        "It names a folder."
      )
    id
  }

  private def isExactlyOnce(options: Options): Boolean = {
    val name = "deliveryGuarantee"
    val isSet = choice(options, name, "atLeastOnce", "exactlyOnce").contains("exactlyOnce")
    if (isSet && aggregation(options).isEmpty)
      throw OptionException.missing(
        s"Option ${options.named(name)} is exactlyOnce, which keeps the identity of the writer " +
          "in aggregates. Set option 'aggregation' to kpl, and read the stream with a consumer " +
          "that deaggregates."
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

  private def requestTimeout(options: Options): Option[FiniteDuration] = {
    val timeout = options.duration("requestTimeout")
    timeout.filter(it => it < LeastRequestTimeout || it > MostRequestTimeout).foreach { _ =>
      throw options.invalid(
        "requestTimeout",
        "1s to 30s",
        "Remove the option to use the default, 10s."
      )
    }
    timeout
  }

  private def linger(options: Options): Option[FiniteDuration] = {
    val linger = options.duration("linger")
    linger.filter(_ > LongestLinger).foreach { _ =>
      throw options.invalid(
        "linger",
        s"at most ${LongestLinger.toMinutes}m",
        "Remove the option to use the default: 100ms, or 5ms in real-time mode."
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

  private def requestRecords(options: Options): Option[Int] = {
    val most = ServiceLimits.PutRecordsCount
    val records = options.positiveInt("maxRequestRecords")
    records.filter(_ > most).foreach { _ =>
      throw options.invalid("maxRequestRecords", s"at most $most", LimitOfPutRecords)
    }
    records
  }

  private def requestBytes(options: Options): Option[Long] = {
    val most = ServiceLimits.PutRecordsBytes
    val bytes = options.size("maxRequestBytes")
    bytes.filter(_ > most).foreach { _ =>
      throw options.invalid("maxRequestBytes", s"at most ${most >> 20}m", LimitOfPutRecords)
    }
    bytes
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
    val keepsLate = keepsLateRecords(options)
    options.text("deadLetterPath").map(DeadLetterOptions(_, keepsLate))
  }

  private def keepsLateRecords(options: Options): Boolean = {
    val name = "onDeliveryTimeout"
    val isSet = choice(options, name, "fail", "deadLetter").contains("deadLetter")
    if (isSet && !options.contains("deadLetterPath"))
      throw OptionException.missing(
        s"Option ${options.named(name)} is deadLetter, and option 'deadLetterPath' is missing. " +
          "Set it to a folder, or set this option to fail."
      )
    val other = Seq("ordering" -> "perKey", "deliveryGuarantee" -> "exactlyOnce").find {
      case (option, word) => options.text(option).exists(_.equalsIgnoreCase(word))
    }
    other.filter(_ => isSet).foreach { case (option, word) =>
      throw OptionException.conflicting(
        s"Option ${options.named(name)}=deadLetter cannot be combined with " +
          s"${options.named(option)}=$word: records would be missing from the stream. Remove one " +
          "of the two."
      )
    }
    isSet
  }

  /**
   * The option's value, which must be one of the given words. The user may write it in any case.
   */
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
