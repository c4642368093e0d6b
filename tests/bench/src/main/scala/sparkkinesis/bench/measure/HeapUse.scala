package sparkkinesis.bench.measure

import java.lang.management.ManagementFactory
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths}
import java.util.concurrent.TimeUnit

import scala.concurrent.duration._

/** Bytes of live objects. */
object HeapUse {
  private val Limit = 60.seconds
  private val Used = """garbage-first heap.* used (\d+)K""".r.unanchored

  /** Live bytes of this process. */
  def own(): Double = {
    System.gc()
    System.gc() // what the first one left for others to clean
    ManagementFactory.getMemoryMXBean.getHeapMemoryUsage.getUsed.toDouble
  }

  /**
   * Live bytes of another process with the G1 collector, by the JDK's `jcmd`, or why they are
   * unknown.
   */
  def ofProcess(pid: Long): Either[String, Double] = {
    val jcmd = Paths.get(sys.props("java.home"), "bin", "jcmd")
    if (!Files.exists(jcmd)) Left(s"there is no $jcmd: a JDK is needed")
    else
      said(jcmd.toString, pid.toString, "GC.run").flatMap { _ =>
        said(jcmd.toString, pid.toString, "GC.heap_info").flatMap {
          case Used(kilobytes) => Right(kilobytes.toDouble * 1024)
          case other => Left(s"jcmd said: ${other.take(100)}")
        }
      }
  }

  private def said(command: String*): Either[String, String] = {
    val process = new ProcessBuilder(command: _*).redirectErrorStream(true).start()
    try
      if (process.waitFor(Limit.toSeconds, TimeUnit.SECONDS))
        Right(new String(process.getInputStream.readAllBytes(), UTF_8))
      else Left(s"${command.mkString(" ")}: not within $Limit")
    finally {
      process.destroyForcibly()
      ()
    }
  }
}
