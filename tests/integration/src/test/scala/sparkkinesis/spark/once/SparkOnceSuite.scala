package sparkkinesis.spark.once

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.streaming.{StreamingQueryException, Trigger}
import org.apache.spark.sql.{DataFrame, SparkSession}

import sparkkinesis.Slow
import sparkkinesis.model.aggregate.{AggregateTags, UserRecords}
import sparkkinesis.model.{HashKey, PutEntry, StreamName}
import sparkkinesis.simulator.sdk.Arrived
import sparkkinesis.sink.once.WriterIdentity
import sparkkinesis.spark.SparkFixture

/** `deliveryGuarantee=exactlyOnce` in Spark, with the files of a checkpoint. */
class SparkOnceSuite extends AnyFunSuite with SparkFixture {
  override protected def sparkBuilder: SparkSession.Builder =
    super.sparkBuilder.config("spark.sql.shuffle.partitions", 3)

  private def rows(from: Int, until: Int): Seq[String] = (from until until).map(n => s"row $n")

  private def records(stream: StreamName): Seq[PutEntry] =
    Arrived.records(server.kinesis, stream).map { it =>
      PutEntry(it.partitionKey.get, it.data, Some(HashKey.Min))
    }

  private def written(stream: StreamName): Seq[String] =
    records(stream)
      .filter(it => AggregateTags.textOf(it.data).nonEmpty)
      .flatMap(UserRecords.of)
      .map(it => new String(it.data, "UTF-8"))

  private def identities(stream: StreamName): Seq[WriterIdentity] =
    records(stream).flatMap(it => AggregateTags.textOf(it.data)).flatMap(WriterIdentity.parse)

  /** A folder of text files, and the checkpoint of a query that reads it. */
  private final class Input {
    private val folder = newFolder()
    val checkpoint: Path = newFolder()

    def add(rows: Seq[String]): Unit = {
      Files.write(folder.resolve(s"${rows.head}.txt"), rows.asJava)
      ()
    }

    def keyed: DataFrame = spark.readStream
      .text(folder.toString)
      .selectExpr("value as data", "concat('k', length(value)) as partitionKey")

    /** As after a crash before Spark has logged the commit. */
    def forgetCommit(): Unit = {
      Files.delete(checkpoint.resolve("commits/0"))
      Files.deleteIfExists(checkpoint.resolve("commits/.0.crc"))
      ()
    }
  }

  private def run(input: DataFrame, stream: StreamName, checkpoint: Path): Unit = {
    val once = Seq("deliveryGuarantee" -> "exactlyOnce", "aggregation" -> "kpl")
    input.writeStream
      .format("kinesis")
      .options(options(stream, once: _*))
      .option("checkpointLocation", checkpoint.toString)
      .trigger(Trigger.AvailableNow())
      .start()
      .awaitTermination()
  }

  test("a query writes each row once, and each aggregate says who wrote it") {
    val (stream, input) = (newStream(), new Input)
    input.add(rows(0, 200))
    run(input.keyed, stream, input.checkpoint)
    input.add(rows(200, 300))
    run(input.keyed, stream, input.checkpoint)
    assert(written(stream).sorted === rows(0, 300).sorted)
    assert(identities(stream).map(_.batch).toSet === Set(0, 1))
    assert(identities(stream).map(_.run).toSet === Set(0))
    assert(records(stream).forall(it => AggregateTags.textOf(it.data).nonEmpty), "no marker")
  }

  test("a batch that runs again writes nothing twice, and only what is missing", Slow) {
    val (stream, input) = (newStream(), new Input)
    input.add(rows(0, 200))
    run(input.keyed, stream, input.checkpoint)
    input.forgetCommit()
    run(input.keyed, stream, input.checkpoint)
    assert(written(stream).sorted === rows(0, 200).sorted)
    assert(records(stream).size > identities(stream).size, "no marker was written")
  }

  test("a query that gives other rows in a repeated batch fails by name", Slow) {
    val (stream, input) = (newStream(), new Input)
    input.add(rows(0, 20))
    run(input.keyed, stream, input.checkpoint)
    input.forgetCommit()
    val other = input.keyed.where("data <> 'row 7'")
    val e = intercept[StreamingQueryException](run(other, stream, input.checkpoint))
    assert(e.getMessage.contains("KINESIS_WRITE_NOT_DETERMINISTIC"), e.getMessage)
  }
}
