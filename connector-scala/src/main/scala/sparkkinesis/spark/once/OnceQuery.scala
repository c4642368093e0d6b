package sparkkinesis.spark.once

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import org.apache.spark.SparkContext

import sparkkinesis.client._
import sparkkinesis.client.aws.ClientPool
import sparkkinesis.compat._
import sparkkinesis.sink.once.OnceTerms
import sparkkinesis.spark.errors.ConnectorError

/**
 * The exactly-once part of a streaming write, on the driver. The query's thread calls it.
 *
 * @param checkpoint `checkpointLocation` of the query
 * @param conf of the session, asked for when a batch begins
 */
private[spark] final class OnceQuery(
    access: StreamAccess,
    queryId: String,
    checkpoint: String,
    conf: () => Configuration
) extends AutoCloseable {
  import OnceQuery._

  private var running = Option.empty[OnceWrite]

  /** Begins the batch that the query runs now. Throws what [[OnceWrite]] does. */
  def begin(summary: StreamSummary): OnceSettings = {
    refuseSpeculation()
    close()
    val write = new OnceWrite(
      new AttemptLog(new Path(checkpoint), conf()),
      queryId,
      access.ref,
      ClientPool.shared.borrow(access.client),
      OnceTerms(),
      SystemClock,
      SystemChance
    )
    running = Some(write)
    try write.begin(batch, summary)
    catch {
      case e: Throwable =>
        close()
        throw e
    }
  }

  /** Spark tells the write its batch only at the end. */
  private def batch: Long =
    Option(SparkContext.getOrCreate().getLocalProperty(BatchProperty))
      .flatMap(_.toLongOption)
      .getOrElse {
        throw unsupported(
          "this Spark does not say which batch of the query runs",
          "Use a micro-batch trigger."
        )
      }

  private def refuseSpeculation(): Unit =
    if (SparkContext.getOrCreate().getConf.getBoolean("spark.speculation", false))
      throw unsupported(
        "spark.speculation is true, and two copies of a task would take the right to write from each other",
        "Set it to false."
      )

  /** Throws what [[OnceWrite]] does. */
  def commit(): Unit = running.foreach(_.commit())

  override def close(): Unit = {
    running.foreach(_.close())
    running = None
  }
}

private[spark] object OnceQuery {
  private val BatchProperty = "streaming.sql.batchId"

  def unsupported(why: String, remedy: String): ConnectorError = ConnectorError(
    "KINESIS_EXACTLY_ONCE_UNSUPPORTED",
    s"Option 'deliveryGuarantee' is exactlyOnce, but $why. $remedy Or set the option to atLeastOnce."
  )

  /**
   * The checkpoint folder of a streaming write.
   *
   * @param options as the user wrote them
   * @throws ConnectorError if a streaming write with these options cannot be exactly once
   */
  def checkpoint(options: Map[String, String]): String = {
    def value(name: String) = options.collectFirst {
      case (key, it) if key.equalsIgnoreCase(name) => it
    }
    if (value("asyncProgressTrackingEnabled").exists(_.equalsIgnoreCase("true")))
      throw unsupported(
        "asyncProgressTrackingEnabled is true, and Spark then logs the offsets of a batch too late",
        "Remove that option."
      )
    value("checkpointLocation").getOrElse {
      throw unsupported(
        "the write has no option 'checkpointLocation', where the sink keeps its log of attempts",
        "Write with writeStream, and set that option there, not in the session."
      )
    }
  }
}
