package sparkkinesis.spark

import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicInteger

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.connector.catalog.DelegatingCatalogExtension
import org.apache.spark.sql.streaming.{DataStreamWriter, Trigger}
import org.apache.spark.sql.{AnalysisException, DataFrame, Row, SparkSession}

import sparkkinesis.model.StreamName
import sparkkinesis.simulator.sdk.Arrived
import sparkkinesis.spark.errors.ConnectorError
import sparkkinesis.spark.read.task.RecordRow

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

  private def newTable(
      stream: StreamName,
      format: String = "kinesis",
      limits: Map[String, String] = Map.empty
  ): String = {
    val table = s"t${names.incrementAndGet()}"
    val more = limits ++ Seq("startingPosition" -> "trim_horizon", "deliveryTimeout" -> "1m")
    val both = options(stream, more.toSeq: _*) -- Seq("awsAccessKeyId", "awsSecretAccessKey")
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

  test("limits of a table definition apply to streaming queries, and do not stop a SELECT") {
    val limits =
      Map("maxRecordsPerTrigger" -> "1", "maxBytesPerTrigger" -> "1m", "maxShardSkew" -> "1h")
    val table = newTable(newStream(shards = 1), limits = limits)
    spark.sql(s"INSERT INTO $table (partitionKey, data) VALUES ('a', 'one'), ('b', 'two')")
    assert(texts(spark.sql(s"SELECT * FROM $table")) === Seq("one", "two"))
    limits.foreach { case (name, value) =>
      Seq(
        spark.read.option(name, value).table(table),
        spark.sql(s"SELECT * FROM $table WITH ('$name' = '$value')")
      ).foreach { read =>
        val e = intercept[ConnectorError](read.collect())
        assert(e.getCondition === "KINESIS_CONFLICTING_OPTIONS" && e.getMessage.contains(name))
      }
    }
    val sizes = mutable.Buffer.empty[Long]
    all(
      spark.readStream
        .table(table)
        .writeStream
        .foreachBatch((batch: DataFrame, _: Long) => sizes += batch.count(): Unit)
    )
    assert(sizes === Seq(1L, 1L))
  }

  test("the end of a table definition applies to SELECT, and does not stop a streaming query") {
    val stream = newStream(shards = 1)
    val inserter = newTable(stream)
    spark.sql(s"INSERT INTO $inserter (partitionKey, data) VALUES ('a', 'one')")
    Thread.sleep(20) // The next record arrives later than the first one.
    val end = java.time.Instant.now.toString
    spark.sql(s"INSERT INTO $inserter (partitionKey, data) VALUES ('a', 'two')")
    val table = newTable(stream, limits = Map("endingPosition" -> end))
    assert(texts(spark.table(table)) === Seq("one"))
    var rows = 0L
    all(
      spark.readStream
        .table(table)
        .writeStream
        .foreachBatch((batch: DataFrame, _: Long) => rows += batch.count())
    )
    assert(rows === 2)
    val e = intercept[ConnectorError](
      spark.sql(
        s"CREATE TABLE ends USING kinesis ${clause(arguments(stream) + ("endingPosition" -> "?"))}"
      )
    )
    assert(e.getCondition === "KINESIS_INVALID_OPTION")
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

  test("ALTER TABLE changes properties, and leaves the columns as they are") {
    val stream = newStream()
    val table = newTable(stream)
    spark.sql(s"INSERT INTO $table (partitionKey, data) VALUES ('a', 'one')")
    Seq(
      s"ALTER TABLE $table SET TBLPROPERTIES ('team' = 'reports', 'option.retryTimeout' = '2m')",
      s"ALTER TABLE $table ADD COLUMN extra int",
      s"ALTER TABLE $table ALTER COLUMN data TYPE string",
      s"ALTER TABLE $table SET LOCATION '/elsewhere'",
      s"COMMENT ON TABLE $table IS 'orders'"
    ).foreach { change =>
      spark.sql(change)
      assert(spark.table(table).schema === RecordRow.Schema, change)
      assert(texts(spark.table(table)) === Seq("one"), change)
      assert(spark.readStream.table(table).schema === RecordRow.Schema, change)
    }
    val e = intercept[AnalysisException](spark.sql(s"SELECT extra FROM $table"))
    assert(e.getMessage.contains("UNRESOLVED_COLUMN"))
    spark.sql(s"INSERT INTO $table (partitionKey, data) VALUES ('a', 'two')")
    assert(texts(spark.table(table)) === Seq("one", "two"))
  }

  test("a table is refused in a session catalog through which Spark could not read it") {
    val stream = newStream()
    val definition = clause(arguments(stream))
    val other = spark.newSession()
    other.conf.set("spark.sql.catalog.spark_catalog", classOf[OtherSessionCatalog].getName)
    other.sql("CREATE TABLE kept (id INT) USING parquet")
    Seq(
      s"CREATE TABLE refused USING kinesis $definition",
      s"CREATE TABLE IF NOT EXISTS refused USING KINESIS $definition",
      s"CREATE TABLE refused USING `spark-kinesis` $definition AS SELECT 'a' AS data",
      s"CREATE TABLE spark_catalog.default.refused USING kinesis $definition",
      s"REPLACE TABLE kept USING kinesis $definition",
      s"CREATE OR REPLACE TABLE kept USING kinesis $definition AS SELECT 'a' AS data"
    ).foreach { command =>
      val e = intercept[ConnectorError](other.sql(command))
      assert(e.getCondition === "KINESIS_UNSUPPORTED_CATALOG", command)
      assert(e.getMessage.contains(classOf[OtherSessionCatalog].getName))
    }
    val rows = other.range(1).selectExpr("'a' AS data")
    val writer = rows.write.format("kinesis").options(arguments(stream))
    intercept[ConnectorError](writer.saveAsTable("refused"))
    assert(!other.catalog.tableExists("refused") && other.table("kept").columns === Array("id"))
    other.sql("DROP TABLE kept")
    // Neither of these needs a table of a catalog.
    other.sql(s"CREATE TEMPORARY VIEW seen USING kinesis ${clause(options(stream))}")
    assert(other.table("seen").count() === 0)
    assert(other.sql(s"SELECT * FROM ${function(arguments(stream))}").count() === 0)
  }

  test("the built-in session catalog has a Kinesis table, also if a setting names it") {
    val stream = newStream()
    val other = spark.newSession()
    other.conf.set("spark.sql.catalog.spark_catalog", "BuiltIn")
    other.sql(s"CREATE TABLE named USING kinesis ${clause(arguments(stream))}")
    assert(other.table("named").count() === 0)
    other.sql("DROP TABLE named")
  }

  test("the class of a new table's source is looked up in a foreign session catalog only") {
    val asked = new ConcurrentLinkedQueue[String]
    val thread = Thread.currentThread
    val loader = thread.getContextClassLoader
    def isAsked = asked.asScala.exists(_.startsWith("nowhere"))
    // This analyzes the command, and does not run it.
    def explained(session: SparkSession, table: String): String =
      session.sql(s"EXPLAIN CREATE TABLE $table (id INT) USING nowhere").head().getString(0)
    val other = spark.newSession()
    other.conf.set("spark.sql.catalog.lake", classOf[LakeCatalog].getName)
    thread.setContextClassLoader(new ClassLoader(loader) {
      override def loadClass(name: String, resolve: Boolean): Class[_] = {
        asked.add(name)
        super.loadClass(name, resolve)
      }
    })
    try {
      assert(explained(other, "lake.default.t").contains("CreateTable") && !isAsked)
      other.conf.set("spark.sql.catalog.spark_catalog", classOf[OtherSessionCatalog].getName)
      explained(other, "t")
      assert(isAsked, "this test sees the lookup")
    } finally thread.setContextClassLoader(loader)
  }

  private def function(arguments: Map[String, String], prefix: String = ""): String = {
    val listed = arguments.map { case (name, value) => s"$name => '$value'" }.mkString(", ")
    val call = s"READ_kinesis($listed)"
    if (prefix.isEmpty) call else s"$prefix($call)"
  }

  private def arguments(stream: StreamName): Map[String, String] =
    options(stream, "startingPosition" -> "trim_horizon") -
      "awsAccessKeyId" - "awsSecretAccessKey"

  test("read_kinesis reads a stream, in each place where a query may have a table") {
    val stream = newStream()
    spark.sql(s"INSERT INTO ${newTable(stream)} (partitionKey, data) VALUES ('a', '1'), ('b', '2')")
    val call = function(arguments(stream))
    assert(texts(spark.sql(s"SELECT data, streamArn FROM $call")) === Seq("1", "2"))
    assert(texts(spark.sql(s"SELECT x.data FROM $call AS x JOIN $call USING (data)")).size === 2)
    assert(spark.sql(s"WITH c AS (SELECT * FROM $call) SELECT * FROM c").count() === 2)
    val inner = s"SELECT 1 WHERE 2 = (SELECT count(*) FROM $call)"
    assert(spark.sql(inner).count() === 1)
    spark.sql(s"CREATE VIEW called AS SELECT data FROM $call WHERE partitionKey = 'b'")
    assert(texts(spark.table("called")) === Seq("2"))
    spark.sql("DROP VIEW called")
  }

  test("a function read_kinesis of the session comes first, and ours has a second name") {
    val stream = newStream()
    spark.sql(s"INSERT INTO ${newTable(stream)} (partitionKey, data) VALUES ('a', '1')")
    val call = function(arguments(stream))
    spark.sql("CREATE TEMPORARY FUNCTION read_kinesis(n INT) RETURNS TABLE(x INT) RETURN SELECT n")
    try {
      assert(spark.sql("SELECT x FROM read_kinesis(7)").head().getInt(0) === 7)
      val second = call.replace("READ_kinesis", "read_spark_kinesis")
      assert(texts(spark.sql(s"SELECT data FROM $second")) === Seq("1"))
    } finally
      spark.sql("DROP TEMPORARY FUNCTION read_kinesis"): Unit
    assert(texts(spark.sql(s"SELECT data FROM $call")) === Seq("1"))
  }

  test("STREAM(read_kinesis(...)) is a streaming query") {
    val stream = newStream()
    spark.sql(s"INSERT INTO ${newTable(stream)} (partitionKey, data) VALUES ('a', '1'), ('b', '2')")
    val frame = spark.sql(s"SELECT * FROM ${function(arguments(stream), "stream")} AS orders")
    assert(frame.isStreaming && frame.schema === RecordRow.Schema)
    var rows = 0L
    all(frame.writeStream.foreachBatch((batch: DataFrame, _: Long) => rows += batch.count()))
    assert(rows === 2)
  }

  test("read_kinesis refuses arguments that it cannot use, and says why") {
    val known = arguments(newStream())
    Seq(
      function(known + ("streamNam" -> "x")) -> "streamName",
      function(known + ("initialPosition" -> "latest")) -> "startingPosition",
      function(known + ("awsSecretAccessKey" -> "hush")) -> "profile",
      function(known + ("credentialsProviderSecret" -> "hush")) -> "secret",
      function(known + ("endpoint" -> "https://kinesis.evil.example")) -> "whoever uses the view",
      function(known + ("STREAMNAME" -> "other")) -> "more than once",
      "read_kinesis(streamName => NULL)" -> "not a constant",
      "read_kinesis(startingPosition => TIMESTAMP '2026-01-01 00:00:00')" -> "not a constant",
      "read_kinesis('orders')" -> "streamName => 'orders'",
      "read_kinesis(streamName => concat('a', 'b'))" -> "not a constant"
    ).foreach { case (call, said) =>
      val e = intercept[IllegalArgumentException](spark.sql(s"SELECT * FROM $call"))
      assert(e.getMessage.startsWith("[KINESIS_") && e.getMessage.contains(said), e.getMessage)
    }
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

/** A catalog of another format, which leaves the tables of the others to Spark. */
final class OtherSessionCatalog extends DelegatingCatalogExtension

/** A catalog beside the session catalog, to analyze commands. It runs none. */
final class LakeCatalog extends DelegatingCatalogExtension {
  override def name: String = "lake"
}
