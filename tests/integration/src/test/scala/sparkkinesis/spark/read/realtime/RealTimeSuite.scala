package sparkkinesis.spark.read.realtime

import scala.concurrent.duration._
import scala.util.Random

import org.scalatest.concurrent.Eventually
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Millis, Seconds, Span}

import sparkkinesis.client.{ShardFilter, ShardLister}
import sparkkinesis.model.aggregate.AggregateBuilder
import sparkkinesis.model.{HashKey, PutEntry, ServiceLimits, Shard, StreamName, StreamRef}
import sparkkinesis.simulator.fault.{Fault, FaultRule}
import sparkkinesis.spark.SparkFixture
import sparkkinesis.spark.errors.ConnectorError

/** The source in real-time mode, over HTTP, by polling and by enhanced fan-out. */
class RealTimeSuite extends AnyFunSuite with SparkFixture with Eventually {
  implicit override val patienceConfig: PatienceConfig =
    PatienceConfig(Span(60, Seconds), Span(5, Millis))

  private val modes = Seq(
    "polling" -> Seq("minFetchPeriod" -> "10ms", "idleFetchPeriod" -> "20ms"),
    "fan-out" -> Seq("consumerMode" -> "efo", "consumerName" -> "live")
  )

  private def query(
      stream: StreamName,
      mode: Seq[(String, String)],
      checkpoint: String = newCheckpoint(),
      from: Option[String] = None
  ): LiveQuery = {
    spark // its environment has the RPC of the driver
    new LiveQuery(
      options(stream, "startingPosition" -> "trim_horizon") ++ mode,
      checkpoint,
      from
    )
  }

  /** Uses a query, and closes it. */
  private def reading(stream: StreamName, mode: Seq[(String, String)])(
      use: LiveQuery => Unit
  ): Unit = {
    val live = query(stream, mode)
    try use(live)
    finally live.close()
  }

  private def key(number: Int) = s"key-${number % 7}"

  private def put(stream: StreamName, numbers: Range): Unit = numbers.foreach { number =>
    server.kinesis.putRecord(stream, PutEntry(key(number), s"$number".getBytes, None))
  }

  /** One Kinesis record with a row for each number, all with the same key. */
  private def putAggregate(stream: StreamName, numbers: Range): Unit = {
    val builder = new AggregateBuilder(ServiceLimits.RecordBytes)
    numbers.foreach(number => builder.add(PutEntry("key-0", s"$number".getBytes, None)))
    server.kinesis.putRecord(stream, builder.result())
  }

  private def open(stream: StreamName): Seq[Shard] =
    ShardLister.list(server.kinesis, StreamRef.ByName(stream), ShardFilter.AtLatest).shards

  private def split(stream: StreamName, shard: Shard): Unit = {
    val middle = (shard.hashKeys.first.value + shard.hashKeys.last.value) / 2
    server.kinesis.splitShard(stream, shard.id, HashKey(middle))
  }

  private def assertOnce(rows: Seq[LiveQuery.Row], count: Int): Unit = {
    assert(rows.map(_.number).sorted === (0 until count))
    assertOrder(rows)
  }

  private def assertOrder(rows: Seq[LiveQuery.Row]): Unit =
    rows.groupBy(_.key).foreach { case (key, of) =>
      assert(of.map(_.number) === of.map(_.number).sorted, key)
    }

  for ((name, mode) <- modes) {
    test(s"$name: rows arrive while the batch runs, and the next batch continues") {
      val stream = newStream(2)
      put(stream, 0 until 50)
      reading(stream, mode) { live =>
        live.batch {
          eventually(assert(live.rows.size === 50))
          put(stream, 50 until 100)
          eventually(assert(live.rows.size === 100))
        }
        put(stream, 100 until 120)
        live.batch(eventually(assert(live.rows.size === 120)))
        live.batch(())
        assertOnce(live.rows, 120)
        assert(live.metric("rereadRanges") === 0)
        if (mode.contains("consumerMode" -> "efo"))
          eventually(assert(live.metric("subscriptions") === 2)) // a heartbeat reports it
      }
    }

    test(s"$name: a batch may end after any row, also within an aggregate and before any row") {
      val stream = newStream(1)
      (0 until 100 by 10).foreach { begin =>
        putAggregate(stream, begin until begin + 7)
        put(stream, begin + 7 until begin + 10)
      }
      reading(stream, mode) { live =>
        val random = new Random(7)
        eventually {
          live.batchOf(random.nextInt(5))
          assert(live.rows.size === 100)
        }
        live.batchOf(1)
        assert(live.rows.map(_.number) === (0 until 100))
      }
    }

    test(s"$name: a split ends the batch, and the next one reads the children") {
      val stream = newStream(2)
      put(stream, 0 until 20)
      reading(stream, mode) { live =>
        live.batchUntilEnded {
          eventually(assert(live.rows.size === 20))
          split(stream, open(stream).head)
          put(stream, 20 until 60)
        }
        live.batch(eventually(assert(live.rows.size === 60)))
        assertOnce(live.rows, 60)
        assert(live.rows.map(_.shard).distinct.size >= 3)
        assert(live.metric("closedShards") === 1)
      }
    }

    test(s"$name: shards merge, and the child waits for both") {
      val stream = newStream(2)
      put(stream, 0 until 20)
      reading(stream, mode) { live =>
        live.batchUntilEnded {
          eventually(assert(live.rows.size === 20))
          val Seq(one, other) = open(stream): @unchecked
          server.kinesis.mergeShards(stream, one.id, other.id)
          put(stream, 20 until 40)
        }
        live.batch(eventually(assert(live.rows.size === 40)))
        assertOnce(live.rows, 40)
      }
    }

    test(s"$name: a run that dies repeats its last batch and loses nothing") {
      val stream = newStream(2)
      val checkpoint = newCheckpoint()
      put(stream, 0 until 30)
      val first = query(stream, mode, checkpoint)
      try {
        first.batch(eventually(assert(first.rows.size === 30)))
        put(stream, 30 until 60)
        first.batchThatFails(eventually(assert(first.rows.size === 60)))
      } finally first.close()
      server.kinesis.advance(6.seconds) // the service refuses a second subscription at once
      val second = query(stream, mode, checkpoint, Some(first.checkpointed))
      try {
        put(stream, 60 until 90)
        second.batch(eventually(assert(second.rows.size >= 60)))
        assert(second.rows.map(_.number).sorted === (30 until 90))
        assertOrder(second.rows)
      } finally second.close()
    }
  }

  test("a task that runs again reads its batch again") {
    val stream = newStream(1)
    put(stream, 0 until 10)
    reading(stream, modes.head._2) { live =>
      live.batchThatFails(eventually(assert(live.rows.size === 10)))
      live.batch(eventually(assert(live.rows.size === 20)))
      assert(live.rows.map(_.number) === (0 until 10) ++ (0 until 10))
    }
  }

  test("a failure ends the batch, and the next one fails with its name") {
    val stream = newStream(2)
    put(stream, 0 until 10)
    try
      reading(stream, modes.head._2) { live =>
        val denied = FaultRule(Fault.AccessDenied, Some("GetRecords"), Some(stream))
        live.batchUntilEnded {
          eventually(assert(live.rows.size === 10))
          server.kinesis.script.add(denied): Unit
        }
        val error = intercept[ConnectorError](live.batch(()))
        assert(error.getMessage.contains("KINESIS_ACCESS_DENIED"))
      }
    finally server.kinesis.script.removeAll()
  }

  test("options that need planned batches are refused by name") {
    val stream = newStream(1)
    for (
      (option, value) <- Seq(
        "maxRecordsPerTrigger" -> "10",
        "maxBytesPerTrigger" -> "1m",
        "minPartitions" -> "2",
        "maxShardSkew" -> "1m"
      )
    ) {
      val error = intercept[ConnectorError](query(stream, Seq(option -> value)))
      assert(error.getMessage.contains(option) && error.getMessage.contains("real-time"))
    }
  }

  test("with fewer tasks than shards a task reads several, and a group keeps its shards") {
    val stream = newStream(5)
    put(stream, 0 until 100)
    reading(stream, modes.head._2 :+ ("maxPartitions" -> "2")) { live =>
      live.batch(eventually(assert(live.rows.size === 100)))
      put(stream, 100 until 200)
      live.batch(eventually(assert(live.rows.size === 200)))
      assertOnce(live.rows, 200)
      assert(live.metric("rereadRanges") === 0)
    }
  }

  test("a page that was read when its batch ended does not stay in memory") {
    val stream = newStream(1)
    put(stream, 0 until 10)
    reading(stream, modes.head._2) { live =>
      eventually {
        live.batchOf(10 - live.rows.size)
        assert(live.rows.size === 10)
      }
      eventually(assert(live.metric("bufferedBytes") > 0))
      live.batch(eventually(assert(live.metric("bufferedBytes") === 0)))
    }
  }

  test("the reading on the executor ends with the query") {
    val stream = newStream(1)
    val live = query(stream, modes.head._2)
    live.batch(())
    live.close()
    eventually(assert(RealTimeReads.count === 0))
  }
}
