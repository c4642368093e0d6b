package sparkkinesis.spark.stop

import java.nio.file.{Files, Path}
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{CountDownLatch, FutureTask}

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.{col, lit, udf}
import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}

import sparkkinesis.simulator.fault.{Fault, FaultRule}
import sparkkinesis.simulator.sdk.Arrived
import sparkkinesis.spark.read.BacklogFixture

/** Stops of queries in Spark: in a batch, between batches, and before one. */
class QueryStopSuite extends AnyFunSuite with BacklogFixture {
  private val minute = 60000L

  /** A query whose batches wait in `foreachBatch`, over a stream that never ends. */
  private final class Held(trigger: Trigger = Trigger.ProcessingTime(0)) {
    val checkpoint: Path = newFolder()
    val begun = new AtomicInteger
    val mayEnd = new CountDownLatch(1)

    val query: StreamingQuery = readAll(newBacklog(30), "maxRecordsPerTrigger" -> "1").writeStream
      .option("checkpointLocation", checkpoint.toString)
      .trigger(trigger)
      .foreachBatch { (_: DataFrame, _: Long) =>
        begun.incrementAndGet()
        mayEnd.await()
      }
      .start()

    eventually(assert(begun.get === 1))

    def isCommitted(batch: Int): Boolean = Files.exists(checkpoint.resolve(s"commits/$batch"))
  }

  /** Returns when the stop is requested. */
  private def stopping(query: StreamingQuery): FutureTask[Boolean] = {
    val stop = new FutureTask(() => QueryStop.stop(query, minute))
    new Thread(stop).start()
    eventually(assert(QueryStop.requests.containsKey(query.runId.toString)))
    stop
  }

  test("the running batch commits, and no other one begins") {
    val held = new Held()
    val stop = stopping(held.query)
    assert(held.query.isActive && !stop.isDone)
    held.mayEnd.countDown()
    assert(stop.get())
    assert(!held.query.isActive && held.query.exception.isEmpty)
    assert(held.begun.get === 1 && held.isCommitted(0))
    assert(!Files.exists(held.checkpoint.resolve("offsets/1")), "a second batch was planned")
    assert(QueryStop.stop(held.query, minute), "the query had ended")
  }

  test("a query that somebody else stops in a batch was not stopped between two batches") {
    val held = new Held()
    val stop = stopping(held.query)
    held.query.stop()
    assert(!stop.get() && !held.isCommitted(0))
  }

  test("after the timeout the query stops anyway, and its batch is not committed") {
    val held = new Held()
    assert(!QueryStop.stop(held.query, timeoutMillis = 0))
    assert(!held.query.isActive && !held.isCommitted(0))
  }

  test("a query that waits for its next trigger stops without it") {
    val held = new Held(Trigger.ProcessingTime("1 hour"))
    held.mayEnd.countDown()
    eventually(assert(held.isCommitted(0)))
    assert(QueryStop.stop(held.query, minute) && held.begun.get === 1)
  }

  test("a query that has failed was not stopped between two batches") {
    val query = readAll(newBacklog(1)).writeStream
      .option("checkpointLocation", newCheckpoint())
      .foreachBatch((_: DataFrame, _: Long) => throw new IllegalStateException("no"))
      .start()
    eventually(assert(query.exception.nonEmpty))
    assert(!QueryStop.stop(query, minute))
  }

  test("a client of Spark Connect stops a query by reading a table") {
    val held = new Held()
    held.mayEnd.countDown()
    def stop() = spark.read
      .format(classOf[QueryStopTable].getName)
      .option("run", held.query.runId.toString)
      .option("timeoutMillis", minute)
      .load()
      .head()
    assert(stop().getBoolean(0) && !held.query.isActive)
    assert(stop().isNullAt(0), "the client asks whether the query has failed")
  }

  test("with a foreign source, the sink does not begin to write a batch") {
    val (stream, checkpoint) = (newStream(), newCheckpoint())
    val held = udf { (value: Long) =>
      QueryStopSuite.begun.incrementAndGet()
      QueryStopSuite.mayEnd.await()
      value.toString
    }
    (1 to 2).foreach { _ =>
      QueryStopSuite.hold()
      val query = spark.readStream
        .format("rate-micro-batch")
        .option("rowsPerBatch", 200)
        .load()
        .select(lit("k").as("partitionKey"), held(col("value")).as("data"))
        .writeStream
        .format("kinesis")
        .options(options(stream))
        .option("checkpointLocation", checkpoint)
        .start()
      eventually(assert(QueryStopSuite.begun.get > 0))
      val stop = stopping(query)
      QueryStopSuite.mayEnd.countDown()
      assert(stop.get())
    }
    val rows = Arrived.records(server.kinesis, stream).map(it => new String(it.data).toInt)
    assert(rows.sorted === (0 until 400), "one batch in each run")
  }

  test("the source does not begin a batch that it found while the stop was requested") {
    val (stream, checkpoint) = (newBacklog(1), newFolder())
    val begun = new AtomicInteger
    server.kinesis.script.add(FaultRule(Fault.Throttled, Some("GetRecords")))
    try {
      // With this trigger, the source looks for the end of the batch until it has read the record.
      val query = readAll(stream).writeStream
        .option("checkpointLocation", checkpoint.toString)
        .trigger(Trigger.AvailableNow)
        .foreachBatch((_: DataFrame, _: Long) => begun.incrementAndGet(): Unit)
        .start()
      val before = calls
      eventually(assert(calls > before))
      val stop = stopping(query)
      server.kinesis.script.removeAll()
      assert(stop.get() && begun.get === 0)
      assert(!Files.exists(checkpoint.resolve("offsets/0")), "a batch was planned")
    } finally server.kinesis.script.removeAll()
  }
}

/** Spark's tasks have copies of their functions, so what the tasks wait for is here. */
private object QueryStopSuite {
  val begun = new AtomicInteger
  @volatile var mayEnd = new CountDownLatch(0)

  /** From now on, tasks wait. */
  def hold(): Unit = {
    begun.set(0)
    mayEnd = new CountDownLatch(1)
  }
}
