package sparkkinesis.spark.errors

import java.util.{Map => JavaMap}

import org.slf4j.LoggerFactory

import org.apache.spark.SparkThrowable

import sparkkinesis.client.options.OptionException
import sparkkinesis.client.{Diagnosis, KinesisException}
import sparkkinesis.sink.write.DeliveryTimeoutException
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
  def getCondition: String = condition // Spark 3.5 has none

  override def getErrorClass: String = condition // what 3.5 asks for

  override def getSqlState: String = sqlState

  override def getMessageParameters: JavaMap[String, String] = JavaMap.of("message", text)
}

object ConnectorError {
  private val log = LoggerFactory.getLogger(classOf[ConnectorError])
  private val InvalidOptions = "42616" // Spark's own state for invalid options
  private val DataSource = "KD000" // Spark's class for data source errors
  private val LateDelivery = Diagnosis(
    "KINESIS_DELIVERY_TIMEOUT",
    "Add shards to the stream, write less at once, or raise option 'deliveryTimeout'."
  )

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
    val error = diagnosed(e, Diagnosis.of(e))
    e match {
      case _: KinesisException.Other => log.warn(error.getMessage, e) // nobody foresaw it
      case _ => logBriefly(error, e)
    }
    error
  }

  def of(e: DeliveryTimeoutException): ConnectorError = {
    val error = diagnosed(e, LateDelivery)
    logBriefly(error, e)
    error
  }

  private def diagnosed(e: Throwable, diagnosis: Diagnosis): ConnectorError = {
    val text = diagnosis.explain(e.getMessage)
    withStackOf(e, new ConnectorError(diagnosis.condition, text, DataSource))
  }

  /** One line: Spark prints a stack of its own when the query fails. */
  private def logBriefly(error: ConnectorError, cause: Throwable): Unit = {
    log.warn(error.getMessage)
    log.debug("It was caused by", cause)
  }

  def apply(condition: String, text: String): ConnectorError =
    new ConnectorError(condition, text, DataSource)

  private def withStackOf(e: Throwable, error: ConnectorError): ConnectorError = {
    error.setStackTrace(e.getStackTrace)
    error
  }
}
