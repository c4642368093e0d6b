package sparkkinesis

import java.time.Instant
import java.util.concurrent.atomic.LongAdder

import scala.concurrent.ExecutionContext.global
import scala.concurrent.duration._
import scala.concurrent.{Await, Future}
import scala.util.{Failure, Try}

import org.scalatest.{Assertions, Informing}

import sparkkinesis.client.Clock

/**
 * Runs seeded histories. A failure names the seed that replays it, and the fewest [[Steps]] with
 * which it still fails.
 */
trait SeededHistories extends Assertions { this: Informing =>
  private val simulatedMillis = new LongAdder

  /** Runs histories on all cores: they share nothing. */
  protected def each[A](count: Int, fixed: Vector[Long] = TestScope.Fixed)(
      run: Long => A
  ): Seq[A] = {
    simulatedMillis.reset()
    val seeds = TestScope.seeds(count, fixed, StoredSeeds.of(getClass.getSimpleName))
    val all = seeds.map(seed => seed -> Future(Try(run(seed)))(global))
    val ended = all.map { case (seed, future) => seed -> Await.result(future, 20.minutes) }
    val failed = ended.collect { case (seed, Failure(e)) => seed -> e }
    failed.headOption.foreach { case (seed, e) =>
      val others = failed.tail.take(20).map(_._1).mkString(" ")
      val steps = Steps.shrunk(run(seed)).fold("")(steps => s" STEPS=$steps")
      val message = s"replay with SEED=$seed$steps (${e.getMessage}); others are $others"
      fail(s"${failed.size} histories failed: $message", e)
    }
    info(s"${simulatedMillis.sum / 1000} simulated seconds")
    ended.map(_._2.get)
  }

  /** Adds the time of a history, by its clock, to the sum that `each` prints. */
  protected def countTime(clock: Clock): Unit =
    simulatedMillis.add(clock.now.toEpochMilli - Beginning.toEpochMilli)

  /** All histories begin at this time. */
  private val Beginning = Instant.parse("2026-01-01T00:00:00Z")
}
