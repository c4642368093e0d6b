package sparkkinesis.sink.metrics

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.sink.metrics.SinkCounter._

class HotShardSuite extends AnyFunSuite {
  private def shard(name: String, records: Long, sleepMillis: Long) =
    ShardTraffic("orders", name, 4, records, records * 10, sleepMillis, 10000)

  /** A write of ten seconds to some of four shards. */
  private def written(shards: ShardTraffic*): SinkMetrics = {
    val counters = new SinkCounters
    counters.add(KinesisRecordsWritten, shards.map(_.records).sum)
    counters.add(KinesisBytesWritten, shards.map(_.bytes).sum)
    counters.snapshot(ShardTraffic.sum(shards))
  }

  private def hot(shards: ShardTraffic*) =
    HotShard.of(written(shards: _*)).map(_.traffic.shard)

  test("a shard is hot if a task waits for it while the others idle") {
    assert(hot(shard("s1", 9000, 9000)) === Some("s1"))
    assert(hot(shard("s1", 9000, 9000), shard("s2", 500, 0)) === Some("s1"))
    assert(hot(shard("s1", 9000, 9000).copy(shards = 1)) === Some("s1"))
  }

  test("nothing is wrong if all shards are busy, or none is waited for, or the service chooses") {
    assert(HotShard.of(SinkMetrics.Zero) === None)
    val busy = (1 to 4).map(n => shard(s"s$n", 9000, 9000))
    assert(hot(busy: _*) === None)
    assert(hot(shard("s1", 9000, 4000)) === None)
    assert(hot(shard("any shard", 9000, 9000).copy(shards = 0)) === None)
  }

  test("a task's wait is compared with its own time, also if several waves of tasks write") {
    val waves = Seq.fill(6)(written(shard("s1", 9000, 9000)))
    assert(HotShard.of(waves.reduce(_ + _)).nonEmpty)
    val longTask = written(shard("s1", 9000, 9000).copy(writeMillis = 60000))
    assert(HotShard.of(waves.head + longTask).nonEmpty && HotShard.of(longTask) === None)
  }

  test("the message names stream, shard, wait, share and remedy") {
    val said = HotShard.of(written(shard("s1", 9000, 9000), shard("s2", 1000, 0))).get
    assert(
      said.message.startsWith(
        "Shard s1 of stream orders limits the write: a task waited 9 s for it, and it received " +
          "90 % of what was written to 4 shards. If most of its rows have one key, divide that key"
      )
    )
  }

  test("tasks add up: a shard's load is the sum, and its sleep the longest") {
    val both = written(shard("s1", 10, 7), shard("s2", 15, 9)) +
      written(shard("s1", 10, 5), shard("s2", 1, 2))
    assert(
      both.hottestShard.map(it => (it.shard, it.records, it.sleepMillis)) === Some(("s1", 20, 7))
    )
    assert(both.longestSleep.map(_.shard) === Some("s2"))
    assert(both.shareOf(both.hottestShard.get) === 20.0 / 36)
  }

  test("a write to thousands of shards reports few of them, and the slowest") {
    val many = (1 to 5000).map(n => shard(f"s$n%04d", n.toLong, 5001L - n))
    val kept = ShardTraffic.sum(many)
    assert(kept.size === 17 && kept.head.shard === "s5000" && kept.last.shard === "s0001")
    assert(ShardTraffic.sum(kept) === kept)
  }
}
