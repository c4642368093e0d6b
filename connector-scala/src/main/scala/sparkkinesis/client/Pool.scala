package sparkkinesis.client

import java.time.Instant
import java.util.concurrent.atomic.AtomicBoolean

import scala.collection.mutable
import scala.concurrent.duration._
import scala.jdk.DurationConverters._
import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

/**
 * Shares one value per key among all borrowers, so that tasks need not create it for each batch.
 *
 * A value that nobody borrows is closed after [[Pool.IdleTime]] to twice that, without the lock:
 * the HTTP client of subscriptions takes up to 16 s to close.
 *
 * @param create must be quick, because other borrowers wait meanwhile; calls no service
 * @param later runs a task after a delay on a thread of its own, because to close a value may take
 *   long
 */
private[sparkkinesis] final class Pool[K, V <: AutoCloseable](
    create: K => V,
    clock: Clock,
    later: (FiniteDuration, () => Unit) => Unit = Pool.onOwnThread
) {
  private final class Shared(val value: V) {
    var borrowers = 0
    var idleSince: Instant = clock.steady
  }

  private val shared = mutable.Map.empty[K, Shared]
  private var isCheckScheduled = false

  /** The borrower must close the loan, which does not close the value. */
  def borrow(key: K): Loan[V] = synchronized {
    val entry = shared.getOrElseUpdate(key, new Shared(create(key)))
    entry.borrowers += 1
    new Loan(entry.value, () => release(entry))
  }

  /** Borrows one value per key, in order. If one loan fails, the others are given back. */
  def borrowAll(keys: Seq[K]): Seq[Loan[V]] =
    keys.foldLeft(Vector.empty[Loan[V]]) { (loans, key) =>
      try loans :+ borrow(key)
      catch {
        case NonFatal(e) =>
          loans.foreach(_.close())
          throw e
      }
    }

  /** Number of open loans. */
  def loans: Int = synchronized(shared.values.map(_.borrowers).sum)

  private def release(entry: Shared): Unit = synchronized {
    entry.borrowers -= 1
    entry.idleSince = clock.steady
    if (entry.borrowers == 0) scheduleCheck()
  }

  /** At most one check is scheduled at a time, because tasks give values back often. */
  private def scheduleCheck(): Unit = if (!isCheckScheduled) {
    isCheckScheduled = true
    // The check runs one second late, because the other thread's timer may differ from the clock.
    later(Pool.IdleTime + 1.second, () => check())
  }

  private def check(): Unit = {
    val idle = synchronized {
      isCheckScheduled = false
      val removed = takeIdle()
      if (shared.values.exists(_.borrowers == 0)) scheduleCheck()
      removed
    }
    idle.foreach { entry =>
      try entry.value.close()
      catch { case NonFatal(e) => Pool.log.warn(s"${entry.value} could not be closed.", e) }
    }
  }

  private def takeIdle(): Seq[Shared] = {
    val limit = clock.steady.minus(Pool.IdleTime.toJava)
    val idle = shared.filter { case (_, entry) =>
      entry.borrowers == 0 && !entry.idleSince.isAfter(limit)
    }
    shared --= idle.keys
    idle.values.toVector
  }
}

private[sparkkinesis] object Pool {
  private val log = LoggerFactory.getLogger(classOf[Pool[_, _]])

  /** How long an idle value waits for the next borrower. */
  val IdleTime: FiniteDuration = 1.minute

  /** Runs a task after a delay on a thread of its own. */
  val onOwnThread: (FiniteDuration, () => Unit) => Unit = (delay, task) =>
    Timer.later(
      delay,
      () => DaemonThreads.named("spark-kinesis-idle").newThread(() => task()).start()
    )
}

/** A borrowed value. Close the loan, never the value. */
private[sparkkinesis] final class Loan[+V](val value: V, release: () => Unit)
    extends AutoCloseable {
  private val closed = new AtomicBoolean

  /** Gives the value back. A second call has no effect. */
  override def close(): Unit = if (closed.compareAndSet(false, true)) release()
}
