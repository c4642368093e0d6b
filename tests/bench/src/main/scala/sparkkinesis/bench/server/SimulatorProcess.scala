package sparkkinesis.bench.server

import java.io.{BufferedReader, File, InputStreamReader}
import java.net.URI
import java.nio.file.{Files, Path, Paths}
import java.util.concurrent.{CompletableFuture, ExecutionException, TimeUnit, TimeoutException}

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.jdk.OptionConverters._

/**
 * A local Kinesis in a separate process, from the released jars. It ends with `close` and with this
 * process.
 */
final class SimulatorProcess private (process: Process, val endpoint: URI) extends AutoCloseable {
  def pid: Long = process.pid

  /** CPU seconds since the start of the process. */
  def cpuSeconds: Double =
    process.info.totalCpuDuration.toScala.fold(Double.NaN)(_.toNanos / 1e9)

  override def close(): Unit = SimulatorProcess.end(process)
}

object SimulatorProcess {
  private val Ready = "listening on "
  private val StartLimit = 60.seconds
  private val StopLimit = 10.seconds

  /** @param arguments arguments besides the port, for example `--quotas aws` */
  def start(heap: String, arguments: String*): SimulatorProcess = {
    val java = Paths.get(sys.props("java.home"), "bin", "java").toString
    val command = Seq(java, s"-Xmx$heap", "-XX:+UseG1GC", "-Djava.net.preferIPv4Stack=true") ++
      Seq("-Dslf4j.internal.verbosity=ERROR", "-cp", classPath) ++
      Seq("sparkkinesis.simulator.Main", "--port", "0", "--stop-with-stdin") ++ arguments
    val process =
      new ProcessBuilder(command.asJava).redirectError(ProcessBuilder.Redirect.INHERIT).start()
    try new SimulatorProcess(process, endpointOf(process))
    catch {
      case e: Throwable =>
        end(process)
        throw e
    }
  }

  private def end(process: Process): Unit = {
    process.getOutputStream.close()
    if (!process.waitFor(StopLimit.toSeconds, TimeUnit.SECONDS)) {
      process.destroyForcibly()
      ()
    }
  }

  private def endpointOf(process: Process): URI = {
    val said = new CompletableFuture[URI]
    val listening = new Thread(() => listen(process, said), "simulator-output")
    listening.setDaemon(true)
    listening.start()
    try said.get(StartLimit.toSeconds, TimeUnit.SECONDS)
    catch {
      case e: ExecutionException => throw e.getCause
      case _: TimeoutException =>
        throw new IllegalStateException(s"The local Kinesis did not start within $StartLimit.")
    }
  }

  /** Reads the output to its end, so that the process never blocks on a full pipe. */
  private def listen(process: Process, said: CompletableFuture[URI]): Unit = {
    val lines = new BufferedReader(new InputStreamReader(process.getInputStream)).lines
    lines.iterator.asScala.filter(_.startsWith(Ready)).foreach { line =>
      said.complete(URI.create(line.stripPrefix(Ready).trim))
    }
    said.completeExceptionally(
      new IllegalStateException("The local Kinesis ended at once: see above.")
    )
    ()
  }

  private def classPath: String = {
    val version = Files.readString(Paths.get("python/src/spark_kinesis/VERSION")).trim
    val built = Seq("spark-kinesis", "spark-kinesis-simulator").map { name =>
      val jar = Paths.get("target", s"${name}_2.13-$version.jar")
      if (!Files.exists(jar)) throw new IllegalStateException(s"There is no $jar: run make jar.")
      jar
    }
    val ofSpark = Seq(classOf[Option[_]], classOf[org.slf4j.Logger]).map(jarOf)
    (built ++ ofSpark).mkString(File.pathSeparator)
  }

  private def jarOf(inside: Class[_]): Path =
    Paths.get(inside.getProtectionDomain.getCodeSource.getLocation.toURI)
}
