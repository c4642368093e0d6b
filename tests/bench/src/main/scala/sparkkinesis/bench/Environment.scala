package sparkkinesis.bench

import java.nio.charset.StandardCharsets.UTF_8
import java.time.{LocalDate, ZoneOffset}
import java.util.concurrent.TimeUnit

import scala.concurrent.duration._
import scala.util.Try

/** The version, the date and the hardware of a measurement, without a name of the machine. */
object Environment {
  private val GitLimit = 10.seconds

  def now(): String = {
    val cores = Runtime.getRuntime.availableProcessors
    s"$commit, ${LocalDate.now(ZoneOffset.UTC)}, $cores cores, Java " +
      s"${sys.props("java.version")}, Spark ${org.apache.spark.SPARK_VERSION}"
  }

  private def commit: String = git("rev-parse", "--short=8", "HEAD").fold("no commit") { id =>
    // The results themselves are a change, so they do not count.
    val changes = git("status", "--porcelain", "--", ".", ":!docs/reference/benchmarks.md")
    s"commit $id${if (changes.exists(_.isEmpty)) "" else " with changes"}"
  }

  /** None if there is no git, or no repository. */
  private def git(arguments: String*): Option[String] = Try {
    val process = new ProcessBuilder("git" +: arguments: _*).start()
    try {
      val said = new String(process.getInputStream.readAllBytes(), UTF_8).trim
      val isDone = process.waitFor(GitLimit.toSeconds, TimeUnit.SECONDS)
      Option.when(isDone && process.exitValue == 0)(said)
    } finally {
      process.destroyForcibly()
      ()
    }
  }.toOption.flatten
}
