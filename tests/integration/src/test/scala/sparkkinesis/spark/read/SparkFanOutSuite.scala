package sparkkinesis.spark.read

import java.util.concurrent.Executors

import scala.collection.mutable
import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import org.scalatest.concurrent.Eventually
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Millis, Seconds, Span}

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.streaming.{StreamingQuery, StreamingQueryException, Trigger}

import sparkkinesis.client.{ConsumerRef, ShardFilter, ShardLister}
import sparkkinesis.model.{HashKey, PutEntry, StreamName, StreamRef}
import sparkkinesis.simulator.fault.{Fault, FaultRule}
import sparkkinesis.simulator.service.SimulatedKinesis
import sparkkinesis.spark.SparkFixture

/** Queries that read by enhanced fan-out, through Spark and over HTTP. */
class SparkFanOutSuite extends AnyFunSuite with SparkFixture with Eventually {
  implicit override val patienceConfig: PatienceConfig =
    PatienceConfig(Span(90, Seconds), Span(50, Millis))

  private val efo = Seq("consumerMode" -> "efo", "consumerName" -> "app")

  private def put(stream: StreamName, numbers: Range): Unit = numbers.foreach { number =>
    server.kinesis.putRecord(stream, PutEntry(s"key-${number % 7}", s"$number".getBytes, None))
  }

  private def split(stream: StreamName): Unit = {
    val ref = StreamRef.ByName(stream)
    val open = ShardLister.list(server.kinesis, ref, ShardFilter.AtLatest).shards.head
    val middle = (open.hashKeys.first.value + open.hashKeys.last.value) / 2
    server.kinesis.splitShard(stream, open.id, HashKey(middle))
  }

  /** The rows of each batch. */
  private final class Rows {
    private val found = mutable.Buffer.empty[(Long, String, Int)]

    def start(
        data: DataFrame,
        checkpoint: String,
        trigger: Trigger = Trigger.ProcessingTime(0)
    ): StreamingQuery =
      data
        .selectExpr("partitionKey", "cast(cast(data as string) as int) as number")
        .writeStream
        .option("checkpointLocation", checkpoint)
        .trigger(trigger)
        .foreachBatch { (batch: DataFrame, id: Long) =>
          val rows = batch.collect().map(row => (id, row.getString(0), row.getInt(1)))
          found.synchronized(found ++= rows): Unit
        }
        .start()

    def numbers: Seq[Int] = found.synchronized(found.map(_._3).toVector)

    /** Whether the numbers of each key come in order. */
    def inOrder: Boolean = found.synchronized(found.toVector).groupBy(_._2).values.forall { rows =>
      val numbers = rows.sortBy(_._1).map(_._3) // stable within a batch
      rows.map(_._1) == rows.map(_._1).sorted && (rows.size < 2 || numbers == numbers.sorted)
    }
  }

  /** A query that reads by its consumer, until `use` returns. */
  private def reading(stream: StreamName, rows: Rows)(use: StreamingQuery => Unit): Unit = {
    val query = rows.start(readAll(stream, efo: _*), newCheckpoint())
    try use(query)
    finally query.stop()
  }

  /** The service refuses a second subscription to a shard for five seconds. */
  private def passTakeover(): Unit = server.kinesis.advance(6.seconds)

  /** Lets the service's time run faster: it sends an empty event only after five seconds. */
  private def hurried[A](action: => A): A = {
    val timer = Executors.newSingleThreadScheduledExecutor()
    timer.scheduleAtFixedRate(() => server.kinesis.advance(1.second), 200, 200, MILLISECONDS)
    try action
    finally timer.shutdownNow(): Unit
  }

  private def hasEnded(query: StreamingQuery): Boolean = hurried(query.awaitTermination(90000))

  private def calls(operation: String): Long =
    server.kinesis.statistics.snapshot.calls.getOrElse(operation, 0L)

  test("a query reads the backlog and new records, through a split, each once and in order") {
    val stream = newStream(2)
    put(stream, 0 until 500)
    val rows = new Rows
    reading(stream, rows) { query =>
      eventually(assert(rows.numbers.size === 500))
      split(stream)
      put(stream, 500 until 1000)
      eventually(assert(rows.numbers.size >= 1000))
      assert(rows.numbers.sorted === (0 until 1000) && rows.inOrder)
      eventually { // the progress of a batch comes after its rows
        val progress = query.lastProgress.sources.head.metrics.asScala
        assert(progress("subscriptions").toLong >= 4 && progress("pushedBytes").toLong > 1000)
      }
    }
  }

  test("the query registers its consumer once, and leaves it") {
    val stream = newStream(1)
    put(stream, 0 until 10)
    val checkpoint = newCheckpoint()
    for (run <- 1 to 2) {
      val rows = new Rows
      val query = rows.start(readAll(stream, efo: _*), checkpoint, Trigger.AvailableNow())
      assert(hasEnded(query))
      assert(rows.numbers.size === (if (run == 1) 10 else 0))
      passTakeover()
    }
    val ref = StreamRef.ByName(stream)
    assert(server.kinesis.fanOut.list(ref).consumers.map(_.arn.name) === Seq("app"))
  }

  test("a checkpoint continues in the other mode, either way") {
    val stream = newStream(2)
    val checkpoint = newCheckpoint()
    val rows = new Rows
    for (run <- 0 until 4) {
      put(stream, run * 100 until run * 100 + 100)
      if (run == 2) split(stream)
      val mode = if (run % 2 == 0) efo else Nil
      val query = rows.start(readAll(stream, mode: _*), checkpoint, Trigger.AvailableNow())
      assert(hasEnded(query))
      assert(rows.numbers.sorted === (0 until run * 100 + 100))
      passTakeover()
    }
    assert(rows.inOrder)
  }

  test("several streams are read, each with its consumer, and one of them by its ARN") {
    val (one, other) = (newStream(1), newStream(1))
    put(one, 0 until 50)
    put(other, 50 until 100)
    val rows = new Rows
    val both = Seq("streamName" -> s"$one,$other")
    val named = rows.start(
      readAll(one, efo ++ both: _*),
      newCheckpoint(),
      Trigger.AvailableNow()
    )
    assert(hasEnded(named) && rows.numbers.sorted === (0 until 100))
    val arns = Seq(one, other).map { stream =>
      server.kinesis.fanOut.list(StreamRef.ByName(stream)).consumers.head.arn
    }
    val more = Seq("consumerMode" -> "efo", "consumerArn" -> arns.mkString(","))
    passTakeover()
    val again = new Rows
    val byArn =
      again.start(readAll(one, both ++ more: _*), newCheckpoint(), Trigger.AvailableNow())
    assert(hasEnded(byArn) && again.numbers.sorted === (0 until 100))
  }

  test("no shard is polled while nothing is read again") {
    val stream = newStream(2)
    put(stream, 0 until 100)
    val rows = new Rows
    reading(stream, rows) { _ =>
      eventually(assert(rows.numbers.size === 100))
      val before = calls("GetRecords")
      put(stream, 100 until 200)
      eventually(assert(rows.numbers.size === 200))
      assert(calls("GetRecords") === before)
    }
  }

  private def failing(stream: StreamName, more: (String, String)*): String = {
    val query = new Rows().start(readAll(stream, more: _*), newCheckpoint())
    try
      intercept[StreamingQueryException] {
        assert(query.awaitTermination(90000), "the query did not fail")
      }.getMessage
    finally query.stop()
  }

  test("a second query with the consumer is refused while the first one runs") {
    val stream = newStream(1)
    put(stream, 0 until 10)
    val rows = new Rows
    val first = rows.start(readAll(stream, efo: _*), newCheckpoint())
    try {
      eventually(assert(rows.numbers.size === 10))
      val message = failing(stream, efo: _*)
      assert(message.contains("KINESIS_CONSUMER_IN_USE") && message.contains("consumerName"))
      put(stream, 10 until 20)
      eventually(assert(rows.numbers.size === 20))
    } finally first.stop()
  }

  test("a denied subscription fails the query by name") {
    val stream = newStream(1)
    val rule = FaultRule(Fault.AccessDenied, Some("SubscribeToShard"), Some(stream))
    server.kinesis.script.add(rule)
    val message = failing(stream, efo: _*)
    assert(message.contains("KINESIS_ACCESS_DENIED") && message.contains("SubscribeToShard"))
    assert(message.contains("consumerMode"))
  }

  test("an unknown consumer, and one that is deregistered while the query runs, fail by name") {
    val stream = newStream(1)
    val arn = s"${SimulatedKinesis.arn(stream)}/consumer/none:1"
    val unknown = failing(stream, "consumerMode" -> "efo", "consumerArn" -> arn)
    assert(unknown.contains("KINESIS_CONSUMER_NOT_FOUND") && unknown.contains(arn))
    put(stream, 0 until 10)
    val rows = new Rows
    reading(stream, rows) { query =>
      eventually(assert(rows.numbers.size === 10))
      val consumers = server.kinesis.fanOut
      val own = consumers.list(StreamRef.ByName(stream)).consumers.head.arn
      consumers.deregister(ConsumerRef.ByArn(own))
      val message = intercept[StreamingQueryException](query.awaitTermination(90000)).getMessage
      assert(message.contains("KINESIS_CONSUMER_NOT_FOUND") && message.contains(own.toString))
    }
  }

  test("a subscription that breaks continues without loss") {
    val stream = newStream(2)
    val rule = FaultRule(
      Fault.SubscriptionDropped,
      Some("SubscribeToShard"),
      Some(stream),
      times = Some(2),
      rate = 0.5
    )
    server.kinesis.script.add(rule)
    val rows = new Rows
    reading(stream, rows) { _ =>
      for (round <- 0 until 6) {
        put(stream, round * 50 until round * 50 + 50)
        eventually(assert(rows.numbers.size >= round * 50 + 50))
      }
      assert(rows.numbers.sorted === (0 until 300) && rows.inOrder)
    }
  }

  private def readBatch(stream: StreamName): Seq[Int] =
    spark.read
      .format("kinesis")
      .options(options(stream, efo: _*))
      .load()
      .selectExpr("cast(cast(data as string) as int)")
      .collect()
      .map(_.getInt(0))
      .toSeq

  test("a batch read returns each record once, through a split, and polls nothing") {
    val stream = newStream(2)
    put(stream, 0 until 300)
    split(stream)
    put(stream, 300 until 600)
    val before = calls("GetRecords")
    assert(hurried(readBatch(stream)).sorted === (0 until 600))
    assert(calls("GetRecords") === before + 1, "the check of the permission")
    passTakeover()
    assert(hurried(readBatch(stream)).sorted === (0 until 600))
  }

  test("a batch read with the consumer of a running query is refused") {
    val stream = newStream(1)
    put(stream, 0 until 10)
    val rows = new Rows
    reading(stream, rows) { _ =>
      eventually(assert(rows.numbers.size === 10))
      val e = intercept[IllegalArgumentException](readBatch(stream))
      assert(e.getMessage.contains("KINESIS_CONSUMER_IN_USE"))
    }
  }
}
