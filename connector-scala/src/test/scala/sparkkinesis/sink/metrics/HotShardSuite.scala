package sparkkinesis.sink.metrics

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.sink.metrics.SinkCounter._

class HotShardSuite extends AnyFunSuite {
  private def votes(keys: Int*): KeyVotes = {
    val counter = new KeyVotes.Counter
    keys.foreach(key => counter.add(key.toLong, 0))
    counter.result
  }

  private val one = votes(Seq.fill(100)(1): _*)
  private val hot = votes((1 to 20) ++ Seq.fill(80)(1): _*)
  private val mixed = votes(1 to 100: _*)

  private def shard(name: String, records: Long, sleepMillis: Long, votes: KeyVotes) =
    ShardTraffic("orders", name, 4, records, records * 10, sleepMillis, 10000, votes)

  /** A write of ten seconds to some of four shards. */
  private def written(shards: ShardTraffic*): SinkMetrics = {
    val counters = new SinkCounters
    counters.add(KinesisRecordsWritten, shards.map(_.records).sum)
    counters.add(KinesisBytesWritten, shards.map(_.bytes).sum)
    counters.snapshot(ShardTraffic.sum(shards), WriteTime(50000, 60000))
  }

  private def cause(shards: ShardTraffic*) = HotShard.of(written(shards: _*)).map(_.cause)

  test("the cause of a hot shard follows from its keys and from the other shards") {
    assert(cause(shard("s1", 9000, 9000, one)) === Some(HotShard.ConstantKey))
    val others = shard("s2", 500, 0, mixed)
    assert(cause(shard("s1", 9000, 9000, one), others) === Some(HotShard.HotKey))
    assert(cause(shard("s1", 9000, 9000, hot), others) === Some(HotShard.HotKey))
    assert(cause(shard("s1", 9000, 9000, mixed), others) === Some(HotShard.TooFewShards))
    assert(cause(shard("s1", 9000, 9000, mixed).copy(shards = 1)) === Some(HotShard.TooFewShards))
  }

  test("nothing is wrong if all shards are busy, or none is waited for, or the service chooses") {
    assert(HotShard.of(SinkMetrics.Zero) === None)
    val busy = (1 to 4).map(n => shard(s"s$n", 9000, 9000, one))
    assert(cause(busy: _*) === None)
    assert(cause(shard("s1", 9000, 4000, one)) === None)
    assert(cause(shard("any shard", 9000, 9000, one).copy(shards = 0)) === None)
  }

  test("a task's wait is compared with its own time, also if several waves of tasks write") {
    val waves = (0 until 6).map { wave =>
      val from = 50000L + wave * 10000
      written(shard("s1", 9000, 9000, one)).copy(time = WriteTime(from, from + 10000))
    }
    assert(HotShard.of(waves.reduce(_ + _)).map(_.cause) === Some(HotShard.ConstantKey))
    val longTask = written(shard("s1", 9000, 9000, one).copy(writeMillis = 60000))
    assert(HotShard.of(waves.head + longTask).nonEmpty && HotShard.of(longTask) === None)
  }

  test("the message names stream, shard, wait, share and remedy") {
    val said = HotShard.of(written(shard("s1", 9000, 9000, hot), shard("s2", 1000, 0, mixed))).get
    assert(
      said.message.startsWith(
        "Shard s1 of stream orders limits the write: a task waited 9 s for it, and it received " +
          "90 % of what was written to 4 shards. Most of its rows have one partition key"
      )
    )
  }

  test("tasks add up: a shard's load and votes are sums, and its sleep the longest") {
    val both = written(shard("s1", 10, 7, one), shard("s2", 15, 9, mixed)) +
      written(shard("s1", 10, 5, one), shard("s2", 1, 2, mixed))
    assert(
      both.hottestShard.map(it => (it.shard, it.records, it.sleepMillis)) === Some(("s1", 20, 7))
    )
    assert(both.hottestShard.exists(_.votes.isOneKey))
    assert(both.longestSleep.map(_.shard) === Some("s2"))
    assert(both.shareOf(both.hottestShard.get) === 20.0 / 36)
  }

  test("a write to thousands of shards reports few of them, and the slowest") {
    val many = (1 to 5000).map(n => shard(f"s$n%04d", n.toLong, 5001L - n, mixed))
    val kept = ShardTraffic.sum(many)
    assert(kept.size === 17 && kept.head.shard === "s5000" && kept.last.shard === "s0001")
    assert(ShardTraffic.sum(kept) === kept)
  }

  test("a key with more than half of the rows is found, in any order and over several tasks") {
    val random = new scala.util.Random(3)
    (1 to 100).foreach { _ =>
      val rows = random.shuffle(Seq.fill(80)(7) ++ (100 until 120))
      val (left, right) = rows.splitAt(random.nextInt(100))
      val all = votes(left: _*) + votes(right: _*)
      assert(all.hashHi === 7 && all.rows === 100 && all.isMostlyOneKey && !all.isOneKey)
    }
  }
}
