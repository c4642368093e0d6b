package sparkkinesis.source.fetch

import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{CountDownLatch, ScheduledThreadPoolExecutor, TimeUnit}

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.model.StreamShard
import sparkkinesis.model.offset.Progress
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.protocol.{Assignment, ReadLimits}
import sparkkinesis.source.store.Stores
import sparkkinesis.source.{ScriptedKinesis, StreamClient}

/** The steps of a fetcher run one at a time, and none that was asked for is lost. */
class StepTurnsSuite extends AnyFunSuite {
  private val settings =
    FetchSettings(1, 1.milli, 1.milli, Some(1), 0, ReadLimits.None, true, None)
  private val fetcher = new ShardFetcher(
    StreamClient(stream, new ScriptedKinesis),
    Assignment(StreamShard(arn, shardId(0)), 1, Progress.TrimHorizon),
    Stores.of(settings),
    settings,
    () => 1,
    () => 0.5
  )

  private def withPool(check: ScheduledThreadPoolExecutor => Unit): Unit = {
    val pool = new ScheduledThreadPoolExecutor(4)
    try check(pool)
    finally {
      pool.shutdownNow()
      assert(pool.awaitTermination(10, TimeUnit.SECONDS))
    }
  }

  test("steps of one fetcher never overlap, and a step follows each request") {
    withPool { pool =>
      val (running, overlaps, asked) = (new AtomicInteger, new AtomicInteger, new AtomicInteger)
      val seen = new AtomicInteger
      val turns = new StepTurns(
        pool,
        _ => {
          if (running.incrementAndGet() > 1) overlaps.incrementAndGet()
          seen.set(asked.get)
          running.decrementAndGet(): Unit
        }
      )
      val threads = Seq.fill(4)(
        new Thread(() =>
          for (_ <- 1 to 2000) {
            asked.incrementAndGet()
            turns.schedule(fetcher, Duration.Zero)
          }
        )
      )
      threads.foreach(_.start())
      threads.foreach(_.join())
      while (seen.get < 8000) Thread.onSpinWait()
      assert(overlaps.get === 0)
    }
  }

  test("an earlier step replaces a later one, and not the other way round") {
    withPool { pool =>
      val ran = new CountDownLatch(1)
      val count = new AtomicInteger
      val turns = new StepTurns(
        pool,
        _ => {
          count.incrementAndGet()
          ran.countDown()
        }
      )
      turns.schedule(fetcher, 1.hour)
      turns.schedule(fetcher, Duration.Zero)
      turns.schedule(fetcher, 1.hour)
      assert(ran.await(10, TimeUnit.SECONDS))
      assert(count.get === 1)
    }
  }

  test("a request during a step leads to another step, after the shorter of two delays") {
    withPool { pool =>
      val (inside, go, again) =
        (new CountDownLatch(1), new CountDownLatch(1), new CountDownLatch(2))
      lazy val turns: StepTurns = new StepTurns(
        pool,
        it => {
          again.countDown()
          if (again.getCount == 1) {
            turns.schedule(it, 1.hour)
            inside.countDown()
            go.await()
          }
        }
      )
      turns.schedule(fetcher, Duration.Zero)
      assert(inside.await(10, TimeUnit.SECONDS))
      turns.schedule(fetcher, Duration.Zero)
      go.countDown()
      assert(again.await(10, TimeUnit.SECONDS))
    }
  }

  test("after `close` no step begins") {
    withPool { pool =>
      val count = new AtomicInteger
      val turns = new StepTurns(pool, _ => count.incrementAndGet(): Unit)
      turns.close()
      turns.schedule(fetcher, Duration.Zero)
      pool.shutdown()
      assert(pool.awaitTermination(10, TimeUnit.SECONDS) && count.get === 0)
    }
  }
}
