package sparkkinesis.spark.once

import java.nio.file.{Files, Path}

import scala.concurrent.ExecutionContext.global
import scala.concurrent.duration._
import scala.concurrent.{Await, Future}
import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.streaming.{StreamingQueryException, Trigger}
import org.apache.spark.sql.{DataFrame, SparkSession}

import sparkkinesis.Slow
import sparkkinesis.model.aggregate.{AggregateTags, UserRecords}
import sparkkinesis.model.{HashKey, PutEntry, StreamName, StreamRef}
import sparkkinesis.simulator.sdk.Arrived
import sparkkinesis.sink.once.WriterIdentity
import sparkkinesis.spark.{LogTap, SparkFixture}

/** `deliveryGuarantee=exactlyOnce` in Spark, with the files of a checkpoint. */
class SparkOnceSuite extends AnyFunSuite with SparkFixture {
  override protected def sparkBuilder: SparkSession.Builder =
    super.sparkBuilder.config("spark.sql.shuffle.partitions", 3)

  /** Of an attempt's file: when the first attempt began. */
  private val SinceLine = 6

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

    /** As if the first attempt had begun so much earlier. */
    def makeOlder(time: FiniteDuration): Unit = {
      val folder = checkpoint.resolve("spark-kinesis-sink")
      val file = folder.resolve(folder.toFile.list.filterNot(_.startsWith(".")).head)
      val lines = Files.readAllLines(file).asScala.toVector
      val since = lines(SinceLine).toLong - time.toMillis
      Files.deleteIfExists(folder.resolve(s".${file.getFileName}.crc"))
      Files.writeString(file, lines.updated(SinceLine, since.toString).mkString("\n"))
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

  test("batch and streaming reads name the writer of each row, and no writer of other rows") {
    val (stream, input) = (newStream(), new Input)
    input.add(rows(0, 50))
    run(input.keyed, stream, input.checkpoint)
    server.kinesis.putRecords(StreamRef.ByName(stream), Seq(PutEntry("k", Array[Byte](1), None)))
    val columns = Seq("writerId.query", "writerId.batch", "writerId.aggregate")
    val batch = spark.read
      .format("kinesis")
      .options(options(stream, "startingPosition" -> "trim_horizon"))
      .load()
    readAll(stream)
      .selectExpr(columns: _*)
      .writeStream
      .format("memory")
      .queryName("writers")
      .option("checkpointLocation", newCheckpoint())
      .trigger(Trigger.AvailableNow())
      .start()
      .awaitTermination()
    val query = identities(stream).map(_.query).distinct
    Seq(batch.selectExpr(columns: _*), spark.table("writers")).foreach { frame =>
      val (known, unknown) = frame.collect().toSeq.partition(!_.isNullAt(0))
      assert(known.map(_.getString(0)).distinct === query)
      assert(known.map(_.getLong(1)).toSet === Set(0) && known.forall(_.getLong(2) >= 1))
      assert(known.size === 50 && unknown.size === 1)
    }
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

  /** A batch write of a job. */
  private def write(
      rows: Seq[String],
      stream: StreamName,
      folder: Path,
      more: (String, String)*
  ): Unit = {
    import spark.implicits._
    val settings = Seq(
      "deliveryGuarantee" -> "exactlyOnce",
      "aggregation" -> "kpl",
      "writeId" -> "job-7",
      "checkpointLocation" -> folder.toString
    )
    rows
      .toDF("data")
      .selectExpr("data", "concat('k', length(data)) as partitionKey")
      .write
      .format("kinesis")
      .options(options(stream, settings ++ more: _*))
      .mode("append")
      .save()
  }

  test("a job that runs again after a crash at any step writes nothing twice", Slow) {
    val steps = Seq("nothing" -> 0, "some rows" -> 70, "all rows, but not that it is done" -> 200)
    val jobs = steps.map { case (step, done) =>
      Future {
        val (stream, folder) = (newStream(), newFolder())
        write(rows(0, done), stream, folder)
        Files.delete(folder.resolve("spark-kinesis-sink/write-job-7/committed"))
        write(rows(0, 200), stream, folder)
        assert(written(stream).sorted === rows(0, 200).sorted, s"after a crash that wrote $step")
        assert(identities(stream).map(it => it.query -> it.batch).toSet === Set("job-7" -> 0L))
      }(global)
    }
    jobs.foreach(Await.result(_, 10.minutes))
  }

  test("a job that is done writes nothing when it runs again, and reads nothing back") {
    val (stream, folder) = (newStream(), newFolder())
    write(rows(0, 100), stream, folder)
    val before = records(stream).size
    val warnings = LogTap.of(classOf[OnceWrite])(write(rows(0, 100), stream, folder))
    assert(warnings.map(_.getMessage.getFormattedMessage).forall(_.contains("all its 100 rows")))
    assert(warnings.size === 1)
    assert(records(stream).size === before && written(stream).sorted === rows(0, 100).sorted)
  }

  test("another write with the name of one that is done fails instead of writing nothing") {
    val (stream, folder) = (newStream(), newFolder())
    write(rows(0, 100), stream, folder)
    Seq(rows(0, 99), rows(1, 101), rows(0, 0)).foreach { other =>
      val e = intercept[Exception](write(other, stream, folder))
      val text = Iterator.iterate[Throwable](e)(_.getCause).takeWhile(_ != null).mkString
      assert(text.contains("KINESIS_WRITE_NOT_DETERMINISTIC") && text.contains("with 100 rows"))
    }
    assert(written(stream).sorted === rows(0, 100).sorted)
  }

  test("writes with one name in different folders keep each other's bad rows, also if repeated") {
    val letters = newFolder().toString
    val jobs = Seq.fill(2)(newStream() -> newFolder())
    (jobs ++ jobs).foreach { case (stream, folder) =>
      write(Seq("good", null), stream, folder, "deadLetterPath" -> letters)
    }
    val names = spark.read.json(letters).select("queryId").collect().map(_.getString(0))
    assert(names.distinct.length === 2 && names.length === 2)
    assert(names.forall(_.matches("job-7-[0-9a-f]{8}")))
    jobs.foreach { case (stream, _) => assert(written(stream) === Seq("good")) }
  }

  test("a batch that is repeated after the retention period fails instead of guessing") {
    val (stream, input) = (newStream(), new Input)
    input.add(rows(0, 20))
    run(input.keyed, stream, input.checkpoint)
    input.forgetCommit()
    input.makeOlder(25.hours)
    val e = intercept[StreamingQueryException](run(input.keyed, stream, input.checkpoint))
    assert(e.getMessage.contains("KINESIS_READ_BACK_TOO_LATE"), e.getMessage)
    assert(written(stream).sorted === rows(0, 20).sorted)
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

  test("keys that are not valid UTF-8 are kept as bad rows, also in order and in a repeated run") {
    val (stream, letters, folder) = (newStream(), newFolder().toString, newFolder())
    val keys = Seq("X'FE'", "X'FF'", "X'61FE'", "X'6B'").map(it => s"cast($it as string)")
    val rows = spark
      .range(0, 40, 1, 4)
      .selectExpr(
        "cast(id as string) as data",
        s"element_at(array(${keys.mkString(", ")}), int(id % 4 + 1)) as partitionKey",
        "id"
      )
    val settings = Seq(
      "deliveryGuarantee" -> "exactlyOnce",
      "aggregation" -> "kpl",
      "ordering" -> "perKey",
      "orderBy" -> "id",
      "deadLetterPath" -> letters,
      "writeId" -> "job-8",
      "checkpointLocation" -> folder.toString
    )
    (1 to 2).foreach { _ =>
      rows.write.format("kinesis").options(options(stream, settings: _*)).mode("append").save()
      assert(written(stream) === (3 until 40 by 4).map(_.toString))
      val kept = spark.read.json(letters).select("reason").collect().map(_.getString(0)).toSeq
      assert(kept === Seq.fill(30)("INVALID_PARTITION_KEY"))
    }
  }
}
