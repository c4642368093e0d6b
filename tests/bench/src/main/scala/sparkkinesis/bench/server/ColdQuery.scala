package sparkkinesis.bench.server

import java.io.{BufferedReader, File, InputStreamReader}
import java.lang.management.ManagementFactory
import java.net.URI
import java.nio.file.Paths
import java.util.concurrent.{CountDownLatch, TimeUnit}

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.col

import sparkkinesis.bench.measure.VisibleRows

/** A query in a process of its own, which ends when user code has received its first row. */
object ColdQuery {
  private val Limit = 60.seconds
  private val Prefix = "first row after "

  /** @return the time from the start of the process to the first row of a Kinesis stream */
  def kinesis(endpoint: URI, stream: String): FiniteDuration = run(endpoint.toString, stream)

  /** The same for Spark's `rate` source, which is part of Spark and reads nothing. */
  def rate(): FiniteDuration = run()

  private def run(arguments: String*): FiniteDuration = {
    val java = Paths.get(sys.props("java.home"), "bin", "java").toString
    val command = Seq(java) ++ ManagementFactory.getRuntimeMXBean.getInputArguments.asScala ++
      Seq("-cp", sys.props("java.class.path"), getClass.getName.stripSuffix("$")) ++ arguments
    val process = new ProcessBuilder(command.asJava)
      .redirectError(new File("/dev/null"))
      .start()
    try {
      val lines = new BufferedReader(new InputStreamReader(process.getInputStream)).lines
      lines.iterator.asScala
        .collectFirst { case line if line.startsWith(Prefix) => line.stripPrefix(Prefix) }
        .fold(throw new IllegalStateException("The query had no row."))(_.toLong.millis)
    } finally process.destroyForcibly().waitFor(Limit.toSeconds, TimeUnit.SECONDS): Unit
  }

  /** @param arguments endpoint and stream, or nothing for the `rate` source */
  def main(arguments: Array[String]): Unit = Using.resource(new BenchSpark) { spark =>
    val seen = new CountDownLatch(1)
    val query = VisibleRows.listen(rows(spark, arguments), spark.newCheckpoint().toString) { _ =>
      if (seen.getCount > 0) {
        val age = System.currentTimeMillis - ManagementFactory.getRuntimeMXBean.getStartTime
        println(s"$Prefix$age")
        seen.countDown()
      }
    }
    seen.await(Limit.toSeconds, TimeUnit.SECONDS)
    query.stop()
  }

  private def rows(spark: BenchSpark, arguments: Array[String]): DataFrame = arguments match {
    case Array(endpoint, stream) =>
      spark.read(URI.create(endpoint), stream, Map("startingPosition" -> "trim_horizon"))
    case _ =>
      val numbers = spark.session.readStream.format("rate").option("rowsPerSecond", 100).load()
      numbers.select(col("value").cast("string").cast("binary").as("data"))
  }
}
