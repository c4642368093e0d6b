package sparkkinesis.source.scale

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

/** A campaign has a thousand executors and ten thousand shards, `make test` a twentieth of both. */
class ScaleSuite extends AnyFunSuite {
  private val (few, many) =
    if (sys.env.get("SPARK_KINESIS_TESTS").contains("campaign")) (50, 1000) else (10, 50)

  test("no shard is lost or read twice, and a heartbeat costs no more in a larger cluster") {
    val small = new LargeCluster(few, few * ShardsOfExecutor)
    run(small, few)
    val large = new LargeCluster(many, many * ShardsOfExecutor)
    run(large, many)
    show(large)
    for (kind <- Beats) {
      val growth = large.costs.bytes(kind) / small.costs.bytes(kind)
      tell(s"heartbeat: $kind, bytes allocated", large.costs.bytes(kind))
      tell(s"heartbeat: $kind, growth of bytes allocated from $few executors", growth)
      // The first heartbeat of an executor moves shards to it: the driver looks at all shards.
      if (kind != "join") assert(growth < 2, s"of '$kind', from $few to $many executors")
    }
    tell(
      "heap of the driver, KB per shard",
      large.heapOfDriver() / 1000.0 / ShardsOfExecutor / many
    )
  }

  private def run(cluster: LargeCluster, executors: Int): Unit = {
    val shards = executors * ShardsOfExecutor
    val lost = executors / 10
    var progress = cluster.progress

    def batch(): Unit = {
      val ranges = cluster.batch()
      assert(ranges.map(_.shard).distinct.size === ranges.size)
      ranges.foreach { it =>
        assert(progress(it.shard) === it.from)
        progress = progress.updated(it.shard, it.upTo)
      }
      assert(cluster.progress === progress, "each range of the batch has a task")
    }
    def checkReaders(live: Int): Unit = {
      assert(cluster.assigned.size === shards)
      assert(cluster.assigned.distinct.size === shards)
      assert(cluster.mostShards <= shards / live + 1)
    }

    cluster.start()
    checkReaders(executors)
    for (_ <- 1 to 5) {
      cluster.write()
      batch()
    }
    cluster.pass(2.seconds)
    (1 to 20).foreach(_ => assert(cluster.ask().isEmpty, "an idle query found something"))
    for (areReported <- Seq(false, true)) {
      cluster.write()
      val time = cluster.lose(lost, areReported)
      assert(time < 15.seconds)
      val how = if (areReported) "that disconnect" else "that fall silent"
      tell(
        s"recovery of ${lost * ShardsOfExecutor} shards of executors $how, seconds",
        time.toMillis / 1000.0
      )
      batch()
      assert(progress.values.toSet === Set(cluster.tip), "all was read")
    }
    checkReaders(executors - 2 * lost)
    cluster.write()
    assert(cluster.offset.length <= shards * 100)
    assert(cluster.listCalls <= 2 * cluster.usualListCalls, "calls of ListShards per minute")
  }

  private def show(cluster: LargeCluster): Unit = {
    import cluster.costs
    for (kind <- Beats) {
      tell(s"heartbeat: $kind, CPU ms, p50", costs.millis(kind, 50))
      tell(s"heartbeat: $kind, CPU ms, p99", costs.millis(kind, 99))
      tell(s"heartbeat: $kind, CPU ms under the lock, p50", costs.millis(s"$kind, locked", 50))
      tell(s"heartbeat: $kind, CPU s of all", costs.totalMillis(kind) / 1000)
    }
    for (kind <- Seq("plan", "pack", "encode", "decode", "disconnect")) {
      tell(s"$kind, CPU ms, p50", costs.millis(kind, 50))
      tell(s"$kind, CPU ms, p99", costs.millis(kind, 99))
    }
    tell("offset, bytes", cluster.offset.length.toDouble)
    tell("ListShards per minute", cluster.listCalls)
    tell("heartbeats", Beats.map(costs.count).sum.toDouble)
    tell("batches", costs.count("plan").toDouble)
    tell("simulated seconds", cluster.passed.toMillis / 1000.0)
  }

  /** A line that `tests/campaign/scale.py` reads. */
  private def tell(what: String, value: Double): Unit = println(s"scale: $what = $value")

  private val Beats = Seq("join", "quiet", "empty pages", "pages")

  private val ShardsOfExecutor = 10
}
