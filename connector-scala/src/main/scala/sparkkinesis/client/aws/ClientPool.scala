package sparkkinesis.client.aws

import java.time.Instant
import java.util.concurrent.{ScheduledThreadPoolExecutor, TimeUnit}

import scala.collection.mutable
import scala.concurrent.duration._
import scala.jdk.DurationConverters._
import scala.util.control.NonFatal

import sparkkinesis.client._

/**
 * One client for all who use the same configuration, so that tasks do not connect anew each batch.
 *
 * A client that nobody borrows is closed after [[ClientPool.IdleTime]], or twice that.
 *
 * @param later runs a task on another thread, some time after now
 */
final class ClientPool(
    create: ClientConfig => KinesisClient,
    clock: Clock,
    later: (FiniteDuration, () => Unit) => Unit
) {
  private final class Shared(val client: KinesisClient) {
    var borrowers = 0
    var idleSince: Instant = clock.now
  }

  private val shared = mutable.Map.empty[ClientConfig, Shared]
  private var isLookDue = false

  /** To be closed by the borrower; that is not the end of the client. */
  def borrow(config: ClientConfig): Lease = synchronized {
    val one = shared.getOrElseUpdate(config, new Shared(create(config)))
    one.borrowers += 1
    closeIdle()
    new Lease(one.client, () => release(one))
  }

  /** One for each, or none at all where one cannot be had. */
  def borrowAll(configs: Seq[ClientConfig]): Seq[Lease] =
    configs.foldLeft(Vector.empty[Lease]) { (all, config) =>
      try all :+ borrow(config)
      catch {
        case NonFatal(e) =>
          all.foreach(_.close())
          throw e
      }
    }

  /** For tests: how many leases are open. */
  private[sparkkinesis] def leases: Int = synchronized(shared.values.map(_.borrowers).sum)

  private def release(one: Shared): Unit = synchronized {
    one.borrowers -= 1
    one.idleSince = clock.now
    closeIdle()
    if (one.borrowers == 0) lookLater()
  }

  /** One look is to come at most: tasks give clients back all the time. */
  private def lookLater(): Unit = if (!isLookDue) {
    isLookDue = true
    // A second more: the other thread's time may not be quite the clock's.
    later(ClientPool.IdleTime + 1.second, () => look())
  }

  private def look(): Unit = synchronized {
    isLookDue = false
    closeIdle()
    if (shared.values.exists(_.borrowers == 0)) lookLater()
  }

  private def closeIdle(): Unit = {
    val limit = clock.now.minus(ClientPool.IdleTime.toJava)
    val idle =
      shared.filter { case (_, one) => one.borrowers == 0 && !one.idleSince.isAfter(limit) }
    idle.foreach { case (config, one) =>
      shared.remove(config)
      one.client.close()
    }
  }
}

object ClientPool {

  /** How long a client is kept for the next borrower. */
  val IdleTime: FiniteDuration = 1.minute

  /** This JVM's. */
  val shared: ClientPool =
    new ClientPool(AwsClientFactory.create(_), SystemClock, later(new ThreadWhileNeeded))

  private def later(timer: ThreadWhileNeeded)(delay: FiniteDuration, task: () => Unit): Unit =
    timer.schedule((() => task()): Runnable, delay.toMillis, TimeUnit.MILLISECONDS): Unit

  /** Its only thread ends a moment after the last task: a pool without clients leaves nothing. */
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

/** A borrowed client. Close the lease, never the client. */
final class Lease(val client: KinesisClient, release: () => Unit) extends AutoCloseable {
  private val closed = new java.util.concurrent.atomic.AtomicBoolean

  /** Gives the client back, once. */
  override def close(): Unit = if (closed.compareAndSet(false, true)) release()
}
