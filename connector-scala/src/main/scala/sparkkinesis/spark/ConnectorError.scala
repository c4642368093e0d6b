package sparkkinesis.spark

import java.util.{Map => JavaMap}

import org.slf4j.LoggerFactory

import org.apache.spark.SparkThrowable

import sparkkinesis.client.{KinesisException, OptionException}
import sparkkinesis.sink.DeliveryTimeoutException
import sparkkinesis.source.SourceException

/**
 * A failure as Spark shows it: with a condition, so that it arrives clean from a task, in PySpark
 * and over Spark Connect. (An `IllegalArgumentException`, since PySpark passes no other one on.)
 *
 * It keeps the stack of what failed but not that exception itself, which is logged where it was
 * caught: those of the AWS SDK need not be serializable, and a driver need not know them.
 *
 * @param condition a stable name, such as `KINESIS_STREAM_NOT_FOUND`
 * @param text what happened, and what to do; holds no secret
 */
final class ConnectorError(condition: String, text: String, sqlState: String)
    extends IllegalArgumentException(s"[$condition] $text")
    with SparkThrowable {
  override def getCondition: String = condition

  override def getSqlState: String = sqlState

  override def getMessageParameters: JavaMap[String, String] = JavaMap.of("message", text)
}

object ConnectorError {
  private val log = LoggerFactory.getLogger(getClass)
  private val InvalidOptions = "42616" // Spark's own state for invalid options
  private val DataSource = "KD000" // Spark's class for data source errors

  /** Runs it, and throws the failures that have a name as [[ConnectorError]]s. */
  def translating[A](action: => A): A =
    try action
    catch {
      case e: OptionException => throw of(e)
      case e: KinesisException => throw of(e)
      case e: DeliveryTimeoutException => throw of(e)
      case e: SourceException => throw withStackOf(e, apply(e.condition, e.getMessage))
    }

  def of(e: OptionException): ConnectorError =
    withStackOf(e, new ConnectorError(e.condition, e.getMessage, InvalidOptions))

  def of(e: KinesisException): ConnectorError = {
    val (condition, remedy) = naming(e)
    logged(e, condition, remedy)
  }

  def of(e: DeliveryTimeoutException): ConnectorError =
    logged(
      e,
      "KINESIS_DELIVERY_TIMEOUT",
      "Add shards to the stream, write less at once, or raise option 'deliveryTimeout'."
    )

  private def logged(e: Throwable, condition: String, remedy: String): ConnectorError = {
    log.warn(condition, e)
    val text = s"${e.getMessage.stripSuffix(".")}. $remedy"
    withStackOf(e, new ConnectorError(condition, text, DataSource))
  }

  def apply(condition: String, text: String): ConnectorError =
    new ConnectorError(condition, text, DataSource)

  private def withStackOf(e: Throwable, error: ConnectorError): ConnectorError = {
    error.setStackTrace(e.getStackTrace)
    error
  }

  private def naming(e: KinesisException): (String, String) = e match {
    case _: KinesisException.NotFound =>
      "KINESIS_STREAM_NOT_FOUND" ->
        "Check the stream's name, its region, and the account of the credentials."
    case _: KinesisException.AccessDenied =>
      "KINESIS_ACCESS_DENIED" ->
        "Allow this action on the stream (and its KMS key) to the user or role that asks."
    case _: KinesisException.BadCredentials =>
      "KINESIS_BAD_CREDENTIALS" ->
        "Check the keys, profile or role in the options, their expiry, and the machine's clock."
    case _: KinesisException.Unreachable =>
      "KINESIS_UNREACHABLE" -> "Check region, endpoint, network and proxy."
    case _: KinesisException.Throttled =>
      "KINESIS_THROTTLED" -> "Add shards to the stream, or let fewer clients use it."
    case _: KinesisException.LimitExceeded =>
      "KINESIS_LIMIT_EXCEEDED" -> "Wait, or ask AWS to raise the account's limit."
    case _: KinesisException.InUse =>
      "KINESIS_STREAM_BUSY" -> "Wait until the stream is active."
    case _: KinesisException.InvalidArgument =>
      "KINESIS_INVALID_REQUEST" -> "Check the options against what the service says."
    case _: KinesisException.IteratorExpired | _: KinesisException.ListingExpired |
        _: KinesisException.ServiceFailure =>
      "KINESIS_SERVICE_FAILURE" -> "Start the query again; see the AWS Health Dashboard."
    case _: KinesisException.Other =>
      "KINESIS_FAILURE" -> "The cause is in the log of the driver or executor."
  }
}
