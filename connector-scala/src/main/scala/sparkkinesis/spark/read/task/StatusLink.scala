package sparkkinesis.spark.read.task

import scala.concurrent.duration._

import org.apache.spark.sparkkinesis.{DriverLink, Messages}

import sparkkinesis.source.protocol.{ProtocolVersion, QueryGone}

/** The executor's connection to the driver of a run. */
private[read] final class StatusLink[S <: java.io.Serializable, R](run: QueryRun) {
  private val driver = new DriverLink(run.id, StatusLink.AskTimeout)

  /**
   * @throws QueryGone if the run has ended
   * @throws org.apache.spark.SparkException if the driver does not answer in time
   */
  def ask(status: S): R = driver.ask(Messages.encode(status, ProtocolVersion.Current)) match {
    case Some(reply) => Messages.decode[R](reply)
    case None => throw new QueryGone(s"the query run ${run.id} has ended")
  }
}

private object StatusLink {
  private val AskTimeout = 10.seconds
}
