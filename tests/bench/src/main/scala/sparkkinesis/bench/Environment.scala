package sparkkinesis.bench

import java.nio.charset.StandardCharsets.UTF_8
import java.time.{LocalDate, ZoneOffset}
import java.util.concurrent.TimeUnit

import scala.concurrent.duration._
import scala.util.Try

/** What is measured, when, and on what: nothing that tells whose machine it is. */
object Environment {
  private val GitLimit = 10.seconds

  def now(): String = {
    val cores = Runtime.getRuntime.availableProcessors
    s"$commit, ${LocalDate.now(ZoneOffset.UTC)}, $cores cores, Java ${sys.props("java.version")}, " +
      s"Spark ${org.apache.spark.SPARK_VERSION}"
  }

  private def commit: String = git("rev-parse", "--short=8", "HEAD").fold("no commit") { id =>
    // The results themselves are a change, too.
    val changes = git("status", "--porcelain", "--", ".", ":!docs/reference/benchmarks.md")
    s"commit $id${if (changes.exists(_.isEmpty)) "" else " with changes"}"
  }

  /** None where there is no git, or nothing that it knows. */
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
