package sparkkinesis.client

import java.time.Instant
import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.{ScheduledThreadPoolExecutor, TimeUnit}

import scala.collection.mutable
import scala.concurrent.duration._
import scala.jdk.DurationConverters._

/**
 * One value for all who ask for it by the same key, so that tasks do not begin anew each batch.
 *
 * A value that nobody borrows is closed after [[Pool.IdleTime]], or twice that.
 *
 * @param create quick, for others wait meanwhile; calls no service
 * @param later runs a task on another thread, some time after now
 */
final class Pool[K, V <: AutoCloseable](
    create: K => V,
    clock: Clock,
    later: (FiniteDuration, () => Unit) => Unit
) {
  private final class Shared(val value: V) {
    var borrowers = 0
    var idleSince: Instant = clock.now
  }

  private val shared = mutable.Map.empty[K, Shared]
  private var isLookDue = false

  /** To be closed by the borrower; that is not the end of the value. */
  def borrow(key: K): Loan[V] = synchronized {
    val one = shared.getOrElseUpdate(key, new Shared(create(key)))
    one.borrowers += 1
    closeIdle()
    new Loan(one.value, () => release(one))
  }

  /** How many loans are open. */
  def loans: Int = synchronized(shared.values.map(_.borrowers).sum)

  private def release(one: Shared): Unit = synchronized {
    one.borrowers -= 1
    one.idleSince = clock.now
    closeIdle()
    if (one.borrowers == 0) lookLater()
  }

  /** One look is to come at most: tasks give values back all the time. */
  private def lookLater(): Unit = if (!isLookDue) {
    isLookDue = true
    // A second more: the other thread's time may not be quite the clock's.
    later(Pool.IdleTime + 1.second, () => look())
  }

  private def look(): Unit = synchronized {
    isLookDue = false
    closeIdle()
    if (shared.values.exists(_.borrowers == 0)) lookLater()
  }

  private def closeIdle(): Unit = {
    val limit = clock.now.minus(Pool.IdleTime.toJava)
    val idle =
      shared.filter { case (_, one) => one.borrowers == 0 && !one.idleSince.isAfter(limit) }
    idle.foreach { case (key, one) =>
      shared.remove(key)
      one.value.close()
    }
  }
}

object Pool {

  /** How long a value is kept for the next borrower. */
  val IdleTime: FiniteDuration = 1.minute

  private lazy val timer = new ThreadWhileNeeded

  /** For the pools of this JVM. */
  val later: (FiniteDuration, () => Unit) => Unit = (delay, task) =>
    timer.schedule((() => task()): Runnable, delay.toMillis, TimeUnit.MILLISECONDS): Unit

  /** Its only thread ends a moment after the last task: pools without values leave nothing. */
  private final class ThreadWhileNeeded
      extends ScheduledThreadPoolExecutor(
        1,
        (task: Runnable) => {
          val thread = new Thread(task, "spark-kinesis-idle-clients")
          thread.setDaemon(true)
          thread
        }
      ) {
    setKeepAliveTime(1, TimeUnit.SECONDS)
    allowCoreThreadTimeOut(true)
  }
}

/** What was borrowed. Close the loan, never the value. */
final class Loan[+V](val value: V, release: () => Unit) extends AutoCloseable {
  private val closed = new AtomicBoolean

  /** Gives it back, once. */
  override def close(): Unit = if (closed.compareAndSet(false, true)) release()
}
