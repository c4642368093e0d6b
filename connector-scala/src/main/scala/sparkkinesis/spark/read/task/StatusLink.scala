package sparkkinesis.spark.read.task

import java.util.concurrent.ConcurrentHashMap

import scala.concurrent.duration._

import org.slf4j.LoggerFactory

import org.apache.spark.sparkkinesis.{DriverLink, DriverRpc, Messages, OtherVersion}

import sparkkinesis.client.Timer
import sparkkinesis.source.plan.{Coordinator, ExecutorTable}
import sparkkinesis.source.protocol.{CoordinatorGone, Heartbeat, ProtocolVersion}
import sparkkinesis.spark.errors.ConnectorError

/**
 * The driver's end of the connection to the executors of a run: a coordinator answers their
 * heartbeats on Spark's RPC threads. From `open` to `close` its time passes.
 */
private[read] final class StatusEndpoint[B <: Heartbeat](run: FetchRun, coordinator: Coordinator[B])
    extends AutoCloseable {
  import StatusEndpoint._

  private val log = LoggerFactory.getLogger(classOf[StatusEndpoint[_]])
  private val executors = new ConcurrentHashMap[String, String]() // by address
  private var opened = Seq.empty[AutoCloseable] // the endpoint and the ticks
  @volatile private var otherVersion = Option.empty[OtherVersion]

  /** Answers from now on. */
  def open(): Unit = if (opened.isEmpty) {
    val served = DriverRpc.serve(run.id)(received)(lost)
    opened = Seq(served, Timer.every(ExecutorTable.Tick)(() => coordinator.tick()))
  }

  /** Whether an executor has another version of the connector. */
  def hasOtherVersion: Boolean = otherVersion.nonEmpty

  /**
   * @throws ConnectorError if an executor reported a failure that retries cannot fix, or has
   *   another version of the connector
   */
  def check(): Unit = {
    coordinator.failure.foreach(cause => throw ConnectorError(cause.condition, cause.message))
    coordinator.crash.foreach(reason => throw ConnectorError("KINESIS_INTERNAL_ERROR", reason))
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
    val beat =
      try Messages.decode[B](question, ProtocolVersion.Current)
      catch {
        case other: OtherVersion =>
          log.error(s"Cannot read a message of the executor at $address.", other)
          otherVersion = otherVersion.orElse(Some(other))
          throw other
      }
    executors.put(address, beat.executor)
    Messages.encode(coordinator.answer(beat))
  }

  private def lost(address: String): Unit = Option(executors.remove(address)).foreach { executor =>
    log.info(s"Lost executor $executor, which read shards of ${run.options.names}.")
    coordinator.executorLost(executor)
  }

  /**
   * Tells every executor to stop, waits up to 2 s for its next heartbeat, and closes the endpoint.
   */
  override def close(): Unit = if (opened.nonEmpty) {
    coordinator.stop()
    try coordinator.awaitStopped(Goodbye): Unit
    catch { case _: InterruptedException => Thread.currentThread.interrupt() }
    opened.foreach(_.close())
    opened = Nil
  }
}

private object StatusEndpoint {
  private val Goodbye = 2.seconds
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
