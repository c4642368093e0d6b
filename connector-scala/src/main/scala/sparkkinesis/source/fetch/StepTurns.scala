package sparkkinesis.source.fetch

import java.util.concurrent.{ScheduledExecutorService, ScheduledFuture, TimeUnit}

import scala.collection.mutable
import scala.concurrent.duration.FiniteDuration

/**
 * Runs the steps of fetchers on a pool, those of one fetcher one at a time: its last step and an
 * event of its shard may both ask for the next one. Thread-safe. Takes no other lock.
 */
private[fetch] final class StepTurns(pool: ScheduledExecutorService, step: ShardFetcher => Unit)
    extends AutoCloseable {
  private val turns = mutable.Map.empty[ShardFetcher, Turn] // of fetchers that run or are scheduled
  private var isClosed = false

  /** Runs a step after the delay, or earlier if that was asked for before. */
  def schedule(fetcher: ShardFetcher, delay: FiniteDuration): Unit = synchronized {
    if (!isClosed) {
      val turn = turns.getOrElseUpdate(fetcher, new Turn)
      if (turn.isRunning) turn.next = Some(turn.next.fold(delay)(_.min(delay)))
      else if (turn.due.forall(_.getDelay(TimeUnit.NANOSECONDS) > delay.toNanos))
        plan(fetcher, turn, delay)
    }
  }

  private def plan(fetcher: ShardFetcher, turn: Turn, delay: FiniteDuration): Unit = {
    turn.due.foreach(_.cancel(false))
    turn.number += 1
    val number = turn.number
    turn.due = Some(
      pool.schedule(
        (() => run(fetcher, turn, number)): Runnable,
        delay.toMicros,
        TimeUnit.MICROSECONDS
      )
    )
  }

  /** A cancelled task may have begun already. */
  private def run(fetcher: ShardFetcher, turn: Turn, number: Long): Unit =
    if (begins(turn, number))
      try step(fetcher)
      finally ended(fetcher, turn)

  private def begins(turn: Turn, number: Long): Boolean = synchronized {
    val isLatest = turn.number == number && !turn.isRunning && !isClosed
    if (isLatest) {
      turn.isRunning = true
      turn.due = None
    }
    isLatest
  }

  private def ended(fetcher: ShardFetcher, turn: Turn): Unit = synchronized {
    turn.isRunning = false
    val next = turn.next
    turn.next = None
    next match {
      case Some(delay) if !isClosed => plan(fetcher, turn, delay)
      case _ => turns.remove(fetcher): Unit
    }
  }

  /** Begins no more steps. */
  override def close(): Unit = synchronized {
    isClosed = true
    turns.clear()
  }

  private final class Turn {
    var due: Option[ScheduledFuture[_]] = None
    var isRunning = false
    var next: Option[FiniteDuration] = None // the delay of the step after the running one
    var number = 0L // of the last task
  }
}
