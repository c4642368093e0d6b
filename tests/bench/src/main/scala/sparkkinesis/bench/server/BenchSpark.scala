package sparkkinesis.bench.server

import java.io.File
import java.net.URI
import java.nio.file.{Files, Path}
import java.util.Comparator

import org.apache.spark.sql.{DataFrame, SparkSession}

import sparkkinesis.bench.raw.RawClient

/**
 * The Spark session of all scenarios, with two slots, and a folder for checkpoints. Ends with
 * `close`.
 */
final class BenchSpark extends AutoCloseable {
  private val scratch = Files.createTempDirectory("spark-kinesis-bench")

  val session: SparkSession = SparkSession
    .builder()
    .master("local[2]")
    .appName("bench")
    .config("spark.ui.enabled", false)
    .config("spark.local.dir", scratch.toString)
    .config("spark.sql.warehouse.dir", scratch.resolve("warehouse").toString)
    .config("spark.sql.streaming.stopTimeout", "30s")
    .getOrCreate()

  /** An empty folder, which `close` deletes. */
  def newFolder(): Path = Files.createTempDirectory(scratch, "folder")

  /** A path that does not exist yet. */
  def newCheckpoint(): Path = newFolder().resolve("checkpoint")

  /** The source of a stream, in this Spark session or in another one. */
  def read(
      endpoint: URI,
      stream: String,
      more: Map[String, String] = Map.empty,
      session: SparkSession = this.session
  ): DataFrame =
    session.readStream
      .format("kinesis")
      .options(BenchSpark.options(endpoint, stream) ++ more)
      .load()

  override def close(): Unit =
    try session.stop()
    finally {
      val files = Files.walk(scratch)
      try
        files.sorted(Comparator.reverseOrder[Path]).map[File](_.toFile).forEach { f =>
          f.delete(); ()
        }
      finally files.close()
    }
}

object BenchSpark {

  /** The connection options of source and sink. */
  def options(endpoint: URI, stream: String): Map[String, String] = Map(
    "streamName" -> stream,
    "region" -> RawClient.Region,
    "endpoint" -> endpoint.toString,
    "awsAccessKeyId" -> RawClient.Key,
    "awsSecretAccessKey" -> RawClient.Key
  )
}
