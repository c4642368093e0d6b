package sparkkinesis.spark.read

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.streaming.{StreamingQuery, StreamingQueryException, Trigger}

import sparkkinesis.Slow
import sparkkinesis.model.{PutEntry, StreamName}
import sparkkinesis.spark.SparkFixture

/** Which triggers the source accepts, with limits and without. */
class SparkTriggerSuite extends AnyFunSuite with SparkFixture {
  private val limits = Seq(
    Map.empty[String, String],
    Map("maxRecordsPerTrigger" -> "3"),
    Map("maxBytesPerTrigger" -> "1k"),
    Map("maxRecordsPerTrigger" -> "3", "maxBytesPerTrigger" -> "1k")
  )

  /** A query over a stream of ten records, into a table named after the stream. */
  private def start(
      name: String,
      options: Map[String, String],
      trigger: Trigger
  ): StreamingQuery = {
    put(name)
    read(name, options, trigger)
  }

  private def put(name: String): Unit = {
    server.kinesis.createStream(StreamName(name), 2)
    // 1 kB has five of these records.
    (1 to 10).foreach { number =>
      server.kinesis.putRecord(
        StreamName(name),
        PutEntry(s"key-$number", new Array[Byte](200), None)
      )
    }
  }

  private def read(
      name: String,
      options: Map[String, String],
      trigger: Trigger
  ): StreamingQuery =
    readAll(StreamName(name), options.toSeq: _*).writeStream
      .format("memory")
      .queryName(name)
      .trigger(trigger)
      .option("checkpointLocation", newCheckpoint())
      .start()

  private def count(name: String): Long = spark.table(name).count()

  test("the progress of one batch after the other shares the texts of offsets") {
    val query = start("texts", Map("maxRecordsPerTrigger" -> "1"), Trigger.AvailableNow())
    assert(query.awaitTermination(60000L))
    val batches = query.recentProgress.filter(_.numInputRows > 0).map(_.sources.head)
    assert(batches.length >= 3)
    batches.drop(1).zip(batches).foreach { case (next, batch) =>
      assert(next.startOffset eq batch.endOffset)
    }
  }

  test("the progress of a batch, and no other, has the time from the arrival of its records") {
    val interval = "spark.sql.streaming.noDataProgressEventInterval"
    spark.conf.set(interval, "100") // Else, the next progress without rows comes after 10 s.
    val begin = System.currentTimeMillis()
    put("delays")
    val arrived = System.currentTimeMillis()
    Thread.sleep(500)
    val started = System.currentTimeMillis()
    val query = read("delays", Map("maxRecordsPerTrigger" -> "4"), Trigger.ProcessingTime(0))
    try {
      def isIdle = query.recentProgress.lastOption.exists(_.numInputRows == 0)
      while (query.isActive && !(count("delays") == 10 && isIdle)) Thread.sleep(20)
    } finally {
      query.stop()
      spark.conf.unset(interval)
    }
    val most = System.currentTimeMillis() - begin
    val (full, idle) = query.recentProgress.partition(_.numInputRows > 0)
    assert(full.length >= 3 && idle.nonEmpty)
    full.map(_.sources.head.metrics).foreach { told =>
      val (p50, p99) = (told.get("p50LatencyMs").toLong, told.get("p99LatencyMs").toLong)
      // A value is at most a sixteenth too large.
      assert(p50 >= started - arrived && p99 >= p50 && p99 <= most * 17 / 16)
    }
    assert(idle.forall(!_.sources.head.metrics.containsKey("p50LatencyMs")))
  }

  limits.zipWithIndex.foreach { case (options, index) =>
    // A quick run has each limit alone.
    val tags = if (options.size > 1) Seq(Slow) else Nil
    val limited = if (options.isEmpty) "without limits" else s"with ${options.keys.mkString(", ")}"

    test(s"Trigger.Once is refused $limited, and the message names availableNow", tags: _*) {
      @annotation.nowarn("cat=deprecation")
      val once = Trigger.Once()
      val query = start(s"once_$index", options, once)
      val e = intercept[StreamingQueryException](query.awaitTermination(30000L))
      assert(e.getMessage.contains("[KINESIS_UNSUPPORTED_TRIGGER]"))
      assert(e.getMessage.contains("availableNow"))
      assert(count(s"once_$index") === 0)
    }

    test(s"Trigger.AvailableNow reads all records $limited", tags: _*) {
      val query = start(s"now_$index", options, Trigger.AvailableNow())
      assert(query.awaitTermination(60000L))
      assert(count(s"now_$index") === 10)
      val sources = query.recentProgress.map(_.sources.head)
      assert(sources.forall(_.latestOffset.contains("shardId")), "how far the query could be")
      if (options.nonEmpty) assert(sources.exists(it => it.latestOffset != it.endOffset))
    }

    test(s"the default trigger is accepted $limited, and so is processAllAvailable", tags: _*) {
      val query = start(s"default_$index", options, Trigger.ProcessingTime(0))
      try {
        while (query.isActive && count(s"default_$index") < 10) Thread.sleep(50)
        query.processAllAvailable()
        assert(query.exception.isEmpty && count(s"default_$index") === 10)
      } finally query.stop()
    }
  }
}
