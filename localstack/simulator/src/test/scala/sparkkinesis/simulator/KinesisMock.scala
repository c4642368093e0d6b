package sparkkinesis.simulator

import java.io.{BufferedReader, InputStreamReader}
import java.net.URI
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, Paths}
import java.util.concurrent.TimeUnit

/** A running kinesis-local, started by `localstack/kinesis-mock/run`. */
final class KinesisMock private (process: Process, val endpoint: URI) extends AutoCloseable {
  override def close(): Unit = {
    process.destroy()
    if (!process.waitFor(10, TimeUnit.SECONDS)) process.destroyForcibly()
    ()
  }
}

object KinesisMock {
  private val Ready = "listening on (\\S+)".r
  private val Launcher = Paths.get("localstack", "kinesis-mock", "run")

  /** Throws where there is no Node, with what to do on standard error. */
  def start(): KinesisMock = {
    val process = new ProcessBuilder(launcher.toString, "--stop-with-stdin")
      .redirectError(ProcessBuilder.Redirect.INHERIT)
      .start()
    val out = new BufferedReader(new InputStreamReader(process.getInputStream, UTF_8))
    val lines = Iterator.continually(Option(out.readLine())).takeWhile(_.nonEmpty).flatten
    val endpoint = lines.collectFirst { case Ready(uri) => URI.create(uri) }.getOrElse {
      throw new IllegalStateException(
        s"$launcher ended with ${process.waitFor()} before it listened."
      )
    }
    new KinesisMock(process, endpoint)
  }

  /** Tests run in the directory of their project, below the root. */
  private def launcher: Path =
    Iterator
      .iterate(Option(Paths.get("").toAbsolutePath))(_.flatMap(p => Option(p.getParent)))
      .takeWhile(_.nonEmpty)
      .flatten
      .map(_.resolve(Launcher))
      .find(Files.isExecutable(_))
      .getOrElse(
        throw new IllegalStateException(s"No $Launcher above ${Paths.get("").toAbsolutePath}.")
      )
}
