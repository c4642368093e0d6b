package sparkkinesis.spark.read.task

import scala.concurrent.duration._

import org.apache.spark.sparkkinesis.{DriverLink, Messages}

import sparkkinesis.source.protocol._

/** Sends heartbeats to the driver of a run. */
private[read] final class DriverHeartbeats(run: String) extends HeartbeatLink {
  private val driver = new DriverLink(run, DriverHeartbeats.AskTimeout)

  override def heartbeat(beat: Heartbeat): HeartbeatReply =
    driver.ask(Messages.encode(beat, ProtocolVersion.Current, beat.executor)) match {
      case Some(reply) => Messages.decode[HeartbeatReply](reply)
      case None => throw new QueryGone(s"the query run $run has ended")
    }
}

private object DriverHeartbeats {
  private val AskTimeout = 10.seconds
}
