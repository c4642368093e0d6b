package sparkkinesis.source.fetch

import java.time.Instant
import java.util.concurrent.atomic.AtomicInteger

import scala.collection.immutable.SortedMap
import scala.concurrent.duration._

import org.scalatest.concurrent.Eventually
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Millis, Seconds, Span}

import sparkkinesis.Generators._
import sparkkinesis.client.{Clock, Moment, SystemClock}
import sparkkinesis.model.ShardId
import sparkkinesis.model.offset.{Progress, ShardProgress, StreamOffset}
import sparkkinesis.source.ScriptedKinesis.recordsOf
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.plan.SharedCoordinator
import sparkkinesis.source.protocol.ReadLimits
import sparkkinesis.source.{OneShard, StreamClient}

/** Counts the steps of 64 shards whose store is full, against the time that they took. */
class FullStoreSuite extends AnyFunSuite with Eventually {
  implicit override val patienceConfig: PatienceConfig =
    PatienceConfig(Span(60, Seconds), Span(10, Millis))

  private val shards = 64
  private val settings =
    FetchSettings(1000, 1.milli, 5.millis, Some(8L << 20), 0, ReadLimits.None, true, None)
  private val steps = new AtomicInteger

  private object CountingClock extends Clock {
    override def now: Instant = SystemClock.now
    override def elapsedMillis: Long = SystemClock.elapsedMillis
    override def sleep(duration: FiniteDuration): Unit = SystemClock.sleep(duration)
    override def moment: Moment = {
      steps.incrementAndGet()
      super.moment
    }
  }

  test("a full store wakes each shard a few times per second") {
    val start = only(
      StreamOffset(
        arn,
        Instant.EPOCH,
        SortedMap.from((0 until shards).map { number =>
          shardId(number) -> ShardProgress(Progress.TrimHorizon, Set.empty[ShardId])
        })
      )
    )
    val coordinator = new SharedCoordinator(1.hour)
    coordinator.advance(start, start)
    val service = new FetchService(
      "a",
      "localhost",
      Map(arn -> StreamClient(stream, new OneShard(recordsOf(1 to 100000).toVector))),
      () => (),
      settings,
      coordinator.answer(_),
      CountingClock,
      () => 0.5
    ).start()
    try {
      eventually(assert(service.store.isFull && service.store.shards.size == shards))
      // The last pages may still take less room than was reserved for them, which wakes others.
      eventually {
        val (count, millis) = countSteps(10 * shards)
        info(s"$count steps of $shards shards in $millis ms")
        // Holds on a machine of any speed. The two more were due at the begin and at the end.
        assert(count <= shards * (millis / 200 + 2), "one per shard each 200 ms")
      }
    } finally service.close()
  }

  /** At least so many steps, and the milliseconds around them. */
  private def countSteps(least: Int): (Int, Long) = {
    val begin = SystemClock.elapsedMillis
    val before = steps.get
    eventually(assert(steps.get >= before + least))
    val count = steps.get - before
    (count, SystemClock.elapsedMillis - begin)
  }
}
