package sparkkinesis.spark.read.task

import java.util.concurrent.ConcurrentHashMap

import scala.concurrent.duration._

import org.slf4j.LoggerFactory

import org.apache.spark.sparkkinesis.{DriverLink, DriverRpc, Messages, OtherVersion}

import sparkkinesis.source.protocol.{CoordinatorGone, FetchFailure, ProtocolVersion}
import sparkkinesis.spark.errors.ConnectorError

/**
 * The driver's end of the connection to the executors of a run: they send statuses, and it answers.
 * Spark's RPC threads call the functions.
 *
 * @param executorOf the executor that has sent a status
 * @param onLost receives an executor that has disconnected
 */
private[read] final class StatusEndpoint[S <: java.io.Serializable](
    run: FetchRun,
    executorOf: S => String,
    answer: S => java.io.Serializable,
    onLost: String => Unit
) {
  private val log = LoggerFactory.getLogger(classOf[StatusEndpoint[_]])
  private val executors = new ConcurrentHashMap[String, String]() // by address
  @volatile private var otherVersion = Option.empty[OtherVersion]

  /** Answers from now on. */
  def open(): AutoCloseable = DriverRpc.serve(run.id)(received)(lost)

  /** Whether an executor has another version of the connector. */
  def hasOtherVersion: Boolean = otherVersion.nonEmpty

  /**
   * @param failure of an executor that retries cannot fix
   * @param crash why the service of an executor ended unexpectedly
   * @throws ConnectorError if there is one, or if an executor has another version of the connector
   */
  def check(failure: Option[FetchFailure], crash: Option[String]): Unit = {
    failure.foreach(cause => throw ConnectorError(cause.condition, cause.message))
    crash.foreach(reason => throw ConnectorError("KINESIS_INTERNAL_ERROR", reason))
    otherVersion.foreach { other =>
      throw ConnectorError(
        "KINESIS_VERSION_MISMATCH",
        s"An executor of ${run.options.names} has version ${other.version} of the connector, and " +
          s"the driver has version ${ProtocolVersion.Current}. Use the same jar on driver and " +
          "executors."
      )
    }
  }

  private def received(address: String, question: Array[Byte]): Array[Byte] = {
    val status =
      try Messages.decode[S](question, ProtocolVersion.Current)
      catch {
        case other: OtherVersion =>
          log.error(s"Cannot read a message of the executor at $address.", other)
          otherVersion = otherVersion.orElse(Some(other))
          throw other
      }
    executors.put(address, executorOf(status))
    Messages.encode(answer(status))
  }

  private def lost(address: String): Unit = Option(executors.remove(address)).foreach { executor =>
    log.info(s"Lost executor $executor, which read shards of ${run.options.names}.")
    onLost(executor)
  }
}

/** The executor's end of that connection. */
private[read] final class StatusLink[S <: java.io.Serializable, R](run: FetchRun) {
  private val driver = new DriverLink(run.id, StatusLink.AskTimeout)

  /**
   * @throws CoordinatorGone if the run has ended
   * @throws org.apache.spark.SparkException if the driver does not answer in time
   */
  def ask(status: S): R = driver.ask(Messages.encode(status, ProtocolVersion.Current)) match {
    case Some(reply) => Messages.decode[R](reply)
    case None => throw new CoordinatorGone(s"the query run ${run.id} has ended")
  }
}

private object StatusLink {
  private val AskTimeout = 10.seconds
}
