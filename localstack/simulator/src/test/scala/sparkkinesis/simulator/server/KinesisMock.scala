package sparkkinesis.simulator.server

import java.io.{BufferedReader, InputStreamReader}
import java.net.URI
import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.TimeUnit
import java.util.{Timer, TimerTask}

import scala.concurrent.duration._

import sparkkinesis.Repository

/** A running kinesis-local, started by `localstack/kinesis-mock/run`. */
final class KinesisMock private (process: Process, val endpoint: URI) extends AutoCloseable {

  /** Kills the process, because it stores nothing, and a normal stop takes half a minute. */
  override def close(): Unit = {
    process.destroyForcibly().waitFor(10, TimeUnit.SECONDS)
    ()
  }
}

object KinesisMock {
  private val Ready = "listening on (\\S+)".r
  private val Launcher = "localstack/kinesis-mock/run"

  /** The first start installs it. */
  private val StartTimeout = 5.minutes

  /**
   * Throws if there is no Node, with the remedy on standard error, or if the server does not listen
   * in time.
   */
  def start(): KinesisMock = {
    val process =
      new ProcessBuilder(Repository.root.resolve(Launcher).toString, "--stop-with-stdin")
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start()
    val watchdog = new Timer("kinesis-mock-start", true)
    watchdog.schedule(ending(process), StartTimeout.toMillis)
    val out = new BufferedReader(new InputStreamReader(process.getInputStream, UTF_8))
    val lines = Iterator.continually(Option(out.readLine())).takeWhile(_.nonEmpty).flatten
    val endpoint = lines.collectFirst { case Ready(uri) => URI.create(uri) }.getOrElse {
      throw new IllegalStateException(
        s"$Launcher ended with ${process.waitFor()} before it listened, or was ended for it " +
          s"after $StartTimeout."
      )
    }
    watchdog.cancel()
    new KinesisMock(process, endpoint)
  }

  private def ending(process: Process): TimerTask = new TimerTask {
    override def run(): Unit = {
      process.descendants.forEach(child => child.destroyForcibly(): Unit)
      process.destroyForcibly()
      ()
    }
  }
}
