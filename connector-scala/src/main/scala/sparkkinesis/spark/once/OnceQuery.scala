package sparkkinesis.spark.once

import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import org.apache.spark.{SparkConf, SparkContext}

import sparkkinesis.client._
import sparkkinesis.client.access.Timeouts
import sparkkinesis.client.aws.ClientPool
import sparkkinesis.compat._
import sparkkinesis.sink.once.OnceTerms

/**
 * The exactly-once part of a write, on the driver. The query's thread calls it.
 *
 * Throws [[ConnectorError]] if calls may take too long.
 *
 * @param checkpoint `checkpointLocation` of the write
 * @param writeId of a batch write; none for a streaming query
 * @param conf of the session, asked for when a batch begins
 */
private[spark] final class OnceQuery(
    access: StreamAccess,
    queryId: String,
    checkpoint: String,
    val writeId: Option[String],
    conf: () => Configuration
) extends AutoCloseable {
  import OnceQuery._

  refuseLongCalls(access.client.network.timeouts)
  private var running = Option.empty[OnceWrite]

  /**
   * Begins the batch that the query runs now, or the batch write. Throws what [[OnceWrite]] does.
   */
  def begin(summary: StreamSummary): OnceSettings = {
    refuseSpeculation(SparkContext.getOrCreate().getConf)
    close()
    val write = new OnceWrite(
      attempts,
      writeId.getOrElse(queryId),
      access.ref,
      ClientPool.shared.borrow(access.client),
      OnceTerms(),
      SystemClock
    )
    running = Some(write)
    try write.begin(writeId.fold(batch)(_ => 0L), summary)
    catch {
      case e: Throwable =>
        close()
        throw e
    }
  }

  /** Names a batch write, and no other one in another folder. `None` for a streaming query. */
  def uniqueId: Option[String] = Using.resource(attempts)(_.uniqueId)

  private def attempts = new AttemptLog(new Path(checkpoint), conf(), writeId)

  /** Spark tells the write its batch only at the end. */
  private def batch: Long =
    Option(SparkContext.getOrCreate().getLocalProperty(BatchProperty))
      .flatMap(_.toLongOption)
      .getOrElse {
        throw OnceUnsupported(
          "this Spark does not say which batch of the query runs",
          "Use a micro-batch trigger."
        )
      }

  /** Whether an earlier run of the batch write has committed every row. */
  def isDone: Boolean = running.exists(_.isDone)

  /** Throws what [[OnceWrite]] does. */
  def check(): Unit = running.foreach(_.check())

  /** Commits the batch, which is complete after `check`. */
  def commit(): Unit = {
    running.foreach(_.commit())
    close()
  }

  override def close(): Unit = {
    running.foreach(_.close())
    running = None
  }
}

private[spark] object OnceQuery {
  private val BatchProperty = "streaming.sql.batchId"

  /**
   * A call of a task must end while the task may still be asked about it.
   *
   * @throws ConnectorError if a call may take longer
   */
  private def refuseLongCalls(timeouts: Timeouts): Unit = {
    val most = Timeouts.Default.call
    if (timeouts.call > most)
      throw OnceUnsupported(
        s"a call may take ${timeouts.call} by 'callTimeout' or 'readTimeout', and the sink waits " +
          "60 s for a request that has no answer",
        s"Set 'callTimeout' to at most ${most.toSeconds}s, and 'readTimeout' to at most that."
      )
  }

  /** @throws ConnectorError if Spark may run copies of a task */
  def refuseSpeculation(conf: SparkConf): Unit =
    if (TaskAttempts.areCopied(conf))
      throw OnceUnsupported(
        "spark.speculation is true, and two copies of a task would take the right to write from " +
          "each other",
        "Set it to false."
      )

  /**
   * The checkpoint folder of a write.
   *
   * @param options as the user wrote them
   * @throws ConnectorError if a write with these options cannot be exactly once
   */
  def checkpoint(options: Map[String, String]): String = {
    def value(name: String) = options.collectFirst {
      case (key, it) if key.equalsIgnoreCase(name) => it
    }
    if (value("asyncProgressTrackingEnabled").exists(_.equalsIgnoreCase("true")))
      throw OnceUnsupported(
        "asyncProgressTrackingEnabled is true, and Spark then logs the offsets of a batch too late",
        "Remove that option."
      )
    value("checkpointLocation").getOrElse {
      throw OnceUnsupported(
        "the write has no option 'checkpointLocation', where the sink keeps its log of attempts",
        "Set that option on the write, not in the session."
      )
    }
  }
}
