package sparkkinesis.spark.errors

import java.util.{Map => JavaMap}

import org.slf4j.LoggerFactory

import org.apache.spark.SparkThrowable

import sparkkinesis.client.options.OptionException
import sparkkinesis.client.{ErrorCondition, KinesisException}
import sparkkinesis.shard.SourceException
import sparkkinesis.sink.once.OnceException
import sparkkinesis.sink.write.DeliveryTimeoutException

/**
 * A failure as Spark shows it: with a condition, so that PySpark and Spark Connect show the text of
 * a failed task without its stack. An `IllegalArgumentException`, because PySpark passes on no
 * other.
 *
 * It keeps the stack trace of the cause but not the cause, which is logged where it was caught: an
 * exception of the AWS SDK may not be serializable, and the driver may lack its class.
 *
 * @param condition a stable name, such as `KINESIS_STREAM_NOT_FOUND`
 * @param text the problem and the remedy; holds no secret
 */
private[sparkkinesis] final class ConnectorError(condition: String, text: String, sqlState: String)
    extends IllegalArgumentException(s"[$condition] $text")
    with SparkThrowable {
  def getCondition: String = condition // since Spark 4.0

  override def getErrorClass: String = condition // in Spark 3.5

  override def getSqlState: String = sqlState

  override def getMessageParameters: JavaMap[String, String] = JavaMap.of("message", text)
}

private[sparkkinesis] object ConnectorError {
  private val log = LoggerFactory.getLogger(classOf[ConnectorError])
  private val InvalidOptions = "42616" // Spark's own state for invalid options
  private val DataSource = "KD000" // Spark's class for data source errors
  private val LateDelivery = ErrorCondition(
    "KINESIS_DELIVERY_TIMEOUT",
    "Add shards to the stream, write less data at a time, or raise option 'deliveryTimeout'."
  )

  /** Runs an action, and converts its known failures to [[ConnectorError]]s. */
  def translating[A](action: => A): A =
    try action
    catch {
      case e: OptionException => throw of(e)
      case e: KinesisException => throw of(e)
      case e: DeliveryTimeoutException => throw of(e)
      case e: OnceException => throw of(e)
      case e: SourceException => throw withStackOf(e, apply(e.condition, e.getMessage))
      case e: LinkageError if lacksSpark(e) => throw of(e)
    }

  /** Whether this Spark lacks a class or a member of Apache Spark. A vendor's build may. */
  private def lacksSpark(e: LinkageError): Boolean = {
    val missing = String.valueOf(e.getMessage).replace('/', '.')
    missing.contains("org.apache.spark.") && !missing.contains("org.apache.spark.sparkkinesis.")
  }

  private def of(e: LinkageError): ConnectorError = {
    val text = s"Spark ${org.apache.spark.SPARK_VERSION} of this cluster lacks a part of Apache " +
      s"Spark that the connector needs: ${e.getMessage}. Use a version of Spark from the " +
      "connector's list of versions, or report the name and version of the platform."
    val error = withStackOf(e, apply("KINESIS_UNSUPPORTED_SPARK", text))
    log.warn(error.getMessage, e)
    error
  }

  private def of(e: OnceException): ConnectorError = {
    val error = withStackOf(e, apply(e.condition, e.getMessage))
    Option(e.getCause).foreach(error.initCause)
    error
  }

  def of(e: OptionException): ConnectorError =
    withStackOf(e, new ConnectorError(e.condition, e.getMessage, InvalidOptions))

  def of(e: KinesisException): ConnectorError = {
    val error = diagnosed(e, ErrorCondition.of(e))
    e match {
      case _: KinesisException.Other => log.warn(error.getMessage, e) // unexpected: keep its stack
      case _ => logBriefly(error, e)
    }
    error
  }

  def of(e: DeliveryTimeoutException): ConnectorError = {
    val error = diagnosed(e, LateDelivery)
    logBriefly(error, e)
    error
  }

  private def diagnosed(e: Throwable, diagnosis: ErrorCondition): ConnectorError = {
    val text = diagnosis.explain(e.getMessage)
    withStackOf(e, new ConnectorError(diagnosis.condition, text, DataSource))
  }

  /** Logs one line, because Spark prints a stack when the query fails. */
  private def logBriefly(error: ConnectorError, cause: Throwable): Unit = {
    log.warn(error.getMessage)
    log.debug("Cause", cause)
  }

  def apply(condition: String, text: String): ConnectorError =
    new ConnectorError(condition, text, DataSource)

  private def withStackOf(e: Throwable, error: ConnectorError): ConnectorError = {
    error.setStackTrace(e.getStackTrace)
    error
  }
}
