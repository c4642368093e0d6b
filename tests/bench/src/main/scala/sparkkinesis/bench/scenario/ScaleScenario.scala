package sparkkinesis.bench.scenario

import java.nio.charset.StandardCharsets.UTF_8

import scala.concurrent.duration._

import sparkkinesis.bench.measure.HeapUse
import sparkkinesis.bench.report.{Goal, Result, Samples}
import sparkkinesis.bench.server.{IdleDriver, LargeStream}
import sparkkinesis.bench.sizing.Sizing

/** What a stream with thousands of shards costs the driver, without a server. */
final class ScaleScenario(sizing: Sizing) extends Scenario {
  override val name = "scale"
  override val limit: FiniteDuration = 2.minutes

  private val shards = sizing.driverShards
  private val warmUps = 10
  private val batches = 20

  override def run(): Seq[Result] = {
    val heaps = (1 to sizing.rounds).map(_ => heapPerShard())
    val stream = new LargeStream(shards)
    val times = (1 to warmUps + batches).map { _ =>
      stream.report()
      (millis(check(stream.plan().map(_.size).sum)), millis(checkText(stream.encoded)))
    }
    val bytes = stream.encoded.getBytes(UTF_8).length.toDouble / shards
    val title = s"$name: $shards shards"
    val (plans, writes) = times.drop(warmUps).unzip
    Seq(
      figure(s"$title, planning a batch", "ms", Samples(plans), Goal.atMost(50)),
      figure(s"$title, writing its offset", "ms", Samples(writes)),
      figure(s"$title, offset", "B per shard", Samples(Seq(bytes)), Goal.atMost(100)),
      figure(
        s"$title, heap of readers and offsets, five pages waiting in each shard",
        "KB per shard",
        Samples(heaps),
        Goal.atMost(20)
      ),
      figure(s"$title, a second without records", "ms", Samples(idleSeconds()), Goal.atMost(50))
    )
  }

  private def idleSeconds(): Seq[Double] = {
    val driver = new IdleDriver(shards)
    (1 to warmUps + batches).map(_ => millis(driver.second())).drop(warmUps)
  }

  private def figure(title: String, unit: String, samples: Samples, goal: Goal*): Result =
    Result.measured(title, unit, samples, goal: _*)

  /** Heap per shard while pages wait for the next batch. */
  private def heapPerShard(): Double = {
    val before = HeapUse.own()
    val stream = new LargeStream(shards)
    stream.report()
    stream.plan()
    stream.report()
    val used = HeapUse.own() - before
    check(stream.plan().map(_.size).sum) // used to here: it may not be collected before
    used / 1000 / shards
  }

  private def millis(body: => Unit): Double = {
    val began = System.nanoTime()
    body
    (System.nanoTime() - began) / 1e6
  }

  private def checkText(offset: String): Unit =
    if (offset.length < shards) throw new IllegalStateException(s"An offset of $shards: $offset")

  private def check(found: Int): Unit =
    if (found != shards) throw new IllegalStateException(s"$found of $shards shards were planned.")
}
