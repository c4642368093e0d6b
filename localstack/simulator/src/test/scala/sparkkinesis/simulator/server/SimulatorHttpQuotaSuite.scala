package sparkkinesis.simulator.server

import java.util.concurrent.{Callable, Executors}

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.util.Try

import sparkkinesis.ConformanceSuite
import sparkkinesis.client.{KinesisException, PutResult}
import sparkkinesis.model.{Position, PutEntry, ShardId}
import sparkkinesis.simulator.SimulatorFixture
import sparkkinesis.simulator.contract.QuotaContract
import sparkkinesis.simulator.state.Settings

/** The simulator over HTTP, with its quotas on and its time moved. */
final class SimulatorHttpQuotaSuite
    extends SimulatorFixture
    with QuotaContract
    with ConformanceSuite {
  override protected def settings: Settings = Settings(quotas = true)

  private val Threads = 8

  /** Runs all calls at the same time on separate threads. */
  private def together[A](calls: Seq[() => A]): Seq[A] = {
    val threads = Executors.newFixedThreadPool(Threads)
    try {
      val started = threads.invokeAll(calls.map(call => (() => call()): Callable[A]).asJava)
      started.asScala.map(_.get).toVector
    } finally threads.shutdownNow(): Unit
  }

  /** Number of records that each shard of a new stream accepts while time stands still. */
  private def writtenByShard(puts: Int, records: Int, size: Int): Map[ShardId, Int] = {
    pass(1.minute)
    val stream = newStream(2)
    val entries = shards(stream).map(_.hashKeys.first).map { key =>
      Vector.fill(records)(PutEntry("k", new Array[Byte](size - 1), Some(key)))
    }
    val calls = Seq.fill(puts)(entries).flatten.map(some => () => client.putRecords(stream, some))
    val written = together(calls).flatten.collect { case written: PutResult.Written => written }
    pass(1.minute)
    val held = shards(stream)
      .map(shard => shard.id -> read(stream, shard.id, Position.TrimHorizon, 0).size)
      .toMap
    assert(written.groupMapReduce(_.shard)(_ => 1)(_ + _) == held)
    held
  }

  test("concurrent writers get exactly 1,000 records, or 1 MiB, into a shard") {
    assert(writtenByShard(puts = 12, records = 100, size = 20).values.toSeq == Seq(1000, 1000))
    assert(writtenByShard(puts = 12, records = 10, size = 16384).values.toSeq == Seq(64, 64))
  }

  test("concurrent readers get exactly five pages of a shard") {
    pass(1.minute)
    val stream = newStream(2)
    val iterators =
      shards(stream).map(shard => client.shardIterator(stream, shard.id, Position.TrimHorizon))
    val calls = Seq.fill(10)(iterators).flatten.map { iterator => () =>
      (iterator, Try(client.getRecords(stream, iterator, 10)))
    }
    val (answered, refusals) = together(calls).partition(_._2.isSuccess)
    assert(answered.groupBy(_._1).view.mapValues(_.size).toMap == iterators.map(_ -> 5).toMap)
    assert(refusals.forall(_._2.failed.get.isInstanceOf[KinesisException.Throttled]))
  }
}
