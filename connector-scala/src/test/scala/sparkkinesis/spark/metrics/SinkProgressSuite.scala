package sparkkinesis.spark.metrics

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.shard.Durations
import sparkkinesis.sink.metrics._

class SinkProgressSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private def times(millis: Seq[Long]): Durations =
    millis
      .map(it => Durations(Map(Durations.bucketOf(it) -> 1L)))
      .foldLeft(Durations.Zero)(_ + _)

  private def traffic(shard: String, n: Long, sleepMillis: Long = 70) =
    ShardTraffic("orders", shard, 4, n, n * 3, sleepMillis, n + 9)

  private val counts = for {
    n <- Gen.listOfN(SinkCounter.all.size, Gen.choose(0L, Long.MaxValue))
    deadLetters <- Gen.choose(0L, Long.MaxValue)
    shards <- Gen.listOf(Gen.zip(Gen.alphaStr, Gen.posNum[Long]))
    millis <- Gen.listOf(Gen.posNum[Long])
  } yield WriteCounts(
    SinkMetrics(
      n.toVector,
      shards.map { case (shard, n) => traffic(shard, n) }.toVector,
      times(millis)
    ),
    deadLetters
  )

  test("a report arrives unchanged") {
    forAll(counts, Gen.oneOf(true, false)) { (counts, isCommitted) =>
      val report = TaskReport(counts, isCommitted)
      assert(TaskReport.parse(report.toBytes) === report)
    }
  }

  test("a report of many requests is small: Spark keeps those of all tasks on the driver") {
    val many = SinkMetrics.Zero.copy(requestTimes = times((1L to 2000).map(n => n * n / 1000)))
    assert(TaskReport(WriteCounts(many, 0), isCommitted = true).toBytes.length < 5000)
  }

  test("Spark can create each metric from its class name, to aggregate values") {
    (WriteMetrics.all ++ ReadMetrics.all).map(_.getClass).distinct.foreach { metric =>
      assert(metric.getConstructor().newInstance().aggregateTaskMetrics(Array(0)).nonEmpty)
      assert(Class.forName(metric.getCanonicalName) === metric)
    }
  }

  test("the UI shows the maximum of peaks and the sum of counts") {
    assert(new MaxMetric().aggregateTaskMetrics(Array(3, 9, 4)) === "9")
    assert(new SumMetric().aggregateTaskMetrics(Array(3, 9, 4)) === "16")
  }

  test("the slowest shard is named only if a task waited for it, and the mean has a fraction") {
    val numbers = Map(SinkCounter.Requests -> 4L, SinkCounter.SentRecords -> 10L)
    val metrics = SinkMetrics.Zero.copy(counts = SinkCounter.all.map(numbers.getOrElse(_, 0L)))
    val slow = metrics.copy(shards = Vector(traffic("shardId-000000000001", 0)))
    val shown = SinkProgress.of(WriteCounts(slow, 3))
    assert(
      shown("slowestShard") === "orders/shardId-000000000001" && shown("maxShardWaitMs") === "70"
    )
    assert(shown("recordsPerRequest") === "2.5" && shown("deadLetters") === "3")
    assert(!SinkProgress.of(WriteCounts(metrics, 0)).contains("slowestShard"))
    assert(!shown.contains("hottestShard"))
  }

  test("the hottest shard is named with its share") {
    val numbers = Map(SinkCounter.KinesisRecordsWritten -> 800L)
    val metrics = SinkMetrics.Zero.copy(
      counts = SinkCounter.all.map(numbers.getOrElse(_, 0L)),
      shards = Vector(traffic("s1", 600), traffic("s2", 200))
    )
    val shown = SinkProgress.of(WriteCounts(metrics, 0))
    assert(shown("hottestShard") === "orders/s1" && shown("hottestShardShare") === "0.750")
  }

  test("docs/reference/metrics.md names exactly the metrics of a sink") {
    val slow = SinkMetrics.Zero.copy(shards = Vector(traffic("s", 1)))
    assert(MetricsPage.names("Progress of a sink") === SinkProgress.of(WriteCounts(slow, 0)).keySet)
    val shown = WriteMetrics.all.map(_.name).toSet
    assert(MetricsPage.names("Tasks that write") === shown)
    assert(WriteMetrics.values(WriteCounts.Zero).map(_.name).toSet === shown)
  }
}
