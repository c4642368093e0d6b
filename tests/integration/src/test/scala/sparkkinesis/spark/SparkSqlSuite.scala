package sparkkinesis.spark

import java.util.concurrent.atomic.AtomicInteger

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.streaming.{DataStreamWriter, Trigger}
import org.apache.spark.sql.{DataFrame, Row, SparkSession}

import sparkkinesis.model.StreamName
import sparkkinesis.simulator.sdk.Arrived

/** The data source in SQL: tables and views, over HTTP against the local Kinesis. */
class SparkSqlSuite extends AnyFunSuite with SparkFixture {
  private val names = new AtomicInteger
  private val credentials = Map("aws.accessKeyId" -> "ID", "aws.secretAccessKey" -> "hush")

  override protected def sparkBuilder: SparkSession.Builder = super.sparkBuilder
    .config("spark.sql.warehouse.dir", newFolder().toString)
    .config("spark.sql.shuffle.partitions", 2)

  /** The default credentials chain finds these, so that a definition needs no keys. */
  override protected def beforeAll(): Unit = credentials.foreach { case (name, value) =>
    System.setProperty(name, value)
  }

  override protected def afterAll(): Unit = {
    credentials.keys.foreach(System.clearProperty)
    super.afterAll()
  }

  private def clause(all: Map[String, String]): String =
    all.map { case (name, value) => s"$name '$value'" }.mkString("OPTIONS (", ", ", ")")

  private def newTable(stream: StreamName, format: String = "kinesis"): String = {
    val table = s"t${names.incrementAndGet()}"
    val more = Seq("startingPosition" -> "trim_horizon", "deliveryTimeout" -> "1m")
    val both = options(stream, more: _*) -- Seq("awsAccessKeyId", "awsSecretAccessKey")
    spark.sql(s"CREATE TABLE $table USING $format ${clause(both)}")
    table
  }

  private def texts(frame: DataFrame): Seq[String] =
    frame.selectExpr("string(data)").collect().map(_.getString(0)).toSeq.sorted

  private def all(writer: DataStreamWriter[Row]): Unit = {
    val query = writer
      .option("checkpointLocation", newCheckpoint())
      .trigger(Trigger.AvailableNow())
      .start()
    try query.awaitTermination()
    finally query.stop()
  }

  Seq("kinesis", "spark-kinesis").foreach { format =>
    test(s"CREATE TABLE USING `$format`, INSERT INTO and SELECT work") {
      val stream = newStream()
      val table = newTable(stream, s"`$format`")
      spark.sql(s"INSERT INTO $table (partitionKey, data) VALUES ('a', 'one'), ('b', 'two')")
      spark.sql(s"INSERT INTO $table SELECT 'c' AS partitionKey, 'three' AS data")
      assert(Arrived.texts(server.kinesis, stream).sorted === Seq("one", "three", "two"))
      assert(texts(spark.sql(s"SELECT * FROM $table")) === Seq("one", "three", "two"))
      val filtered = spark.sql(s"SELECT data, streamArn FROM $table WHERE partitionKey = 'b'")
      assert(texts(filtered) === Seq("two"))
      spark.sql(s"DROP TABLE $table")
      assert(!spark.catalog.tableExists(table))
    }
  }

  test("spark.readStream.table and writeStream.toTable work") {
    val (from, to) = (newStream(), newStream())
    val (source, sink) = (newTable(from), newTable(to))
    spark.sql(s"INSERT INTO $source (partitionKey, data) VALUES ('a', 'one'), ('b', 'two')")
    val query = spark.readStream
      .table(source)
      .select("partitionKey", "data")
      .writeStream
      .option("checkpointLocation", newCheckpoint())
      .trigger(Trigger.AvailableNow())
      .toTable(sink)
    try query.awaitTermination()
    finally query.stop()
    assert(Arrived.texts(server.kinesis, to).sorted === Seq("one", "two"))
  }

  test("an option of the query replaces the one of the table") {
    val stream = newStream()
    val table = newTable(stream)
    spark.sql(s"INSERT INTO $table (partitionKey, data) VALUES ('a', 'one')")
    val other = newStream().name
    assert(spark.read.option("streamName", other).table(table).count() === 0)
    val streaming = spark.readStream.option("STREAMNAME", other).table(table)
    var rows = 0L
    all(streaming.writeStream.foreachBatch((batch: DataFrame, _: Long) => rows += batch.count()))
    assert(rows === 0)
  }

  test("CREATE TEMPORARY VIEW and SELECT work") {
    val stream = newStream()
    val table = newTable(stream)
    spark.sql(s"INSERT INTO $table (partitionKey, data) VALUES ('a', 'one')")
    spark.sql(s"CREATE TEMPORARY VIEW recent USING kinesis ${clause(options(stream))}")
    assert(texts(spark.table("recent")) === Seq("one"))
  }

  test("a table definition with static keys is refused, and the table is not created") {
    val stream = newStream()
    val columns = spark.table(newTable(stream)).schema.toDDL
    Seq("", s"($columns)").foreach { columnList =>
      val e = intercept[IllegalArgumentException] {
        spark.sql(s"CREATE TABLE secretive $columnList USING kinesis ${clause(options(stream))}")
      }
      assert(e.getMessage.startsWith("[KINESIS_STATIC_KEYS_IN_TABLE]"))
      assert(e.getMessage.contains("'profile'") && !e.getMessage.contains("hush"))
      assert(!spark.catalog.tableExists("secretive"))
    }
  }

  test("static keys set later are masked, and a query of the table is refused") {
    val table = newTable(newStream())
    val role = "arn:aws:iam::123456789012:role/reader"
    Seq("roleArn" -> role, "roleExternalId" -> "hush", "awsSecretAccessKey" -> "hush").foreach {
      case (name, value) =>
        spark.sql(s"ALTER TABLE $table SET TBLPROPERTIES ('option.$name' = '$value')")
    }
    val shown = Seq("DESCRIBE TABLE EXTENDED", "SHOW CREATE TABLE", "SHOW TBLPROPERTIES")
      .map(command => spark.sql(s"$command $table").collect().mkString("\n"))
    assert(shown.forall(text => text.contains("treamName") && !text.contains("hush")))
    Seq(s"SELECT * FROM $table", s"INSERT INTO $table SELECT 'a' AS partitionKey, 'x' AS data")
      .foreach { sql =>
        val e = intercept[IllegalArgumentException](spark.sql(sql).collect())
        assert(e.getMessage.startsWith("[KINESIS_STATIC_KEYS_IN_TABLE]"))
      }
    spark.sql(s"DROP TABLE $table")
  }

  test("the second format name has the same output mode update, metrics and errors") {
    val stream = newStream()
    val table = newTable(stream)
    spark.sql(s"INSERT INTO $table (partitionKey, data) VALUES ('a', 'one')")
    def copy(format: String) = {
      val to = newStream()
      val query = spark.readStream
        .table(table)
        .select("partitionKey", "data")
        .writeStream
        .format(format)
        .options(options(to))
        .option("checkpointLocation", newCheckpoint())
        .outputMode("update")
        .trigger(Trigger.AvailableNow())
        .start()
      try query.awaitTermination()
      finally query.stop()
      val metrics = query.recentProgress.map(_.sink.metrics).filter(_.get("recordsWritten") == "1")
      assert(metrics.length === 1)
      metrics.head.keySet
    }
    assert(copy("spark-kinesis") === copy("kinesis"))
    def failure(format: String) =
      intercept[IllegalArgumentException](spark.read.format(format).load()).getMessage
    assert(failure("spark-kinesis") === failure("kinesis"))
  }
}
