package sparkkinesis.client.aws

import java.time.Instant

import scala.collection.mutable
import scala.concurrent.duration._
import scala.jdk.DurationConverters._

import sparkkinesis.client._

/**
 * One client for all who use the same configuration, so that tasks do not connect anew each batch.
 *
 * A client that nobody borrows is closed when the pool is next used after [[ClientPool.IdleTime]].
 */
final class ClientPool(create: ClientConfig => KinesisClient, clock: Clock) {
  private final class Shared(val client: KinesisClient) {
    var borrowers = 0
    var idleSince: Instant = clock.now
  }

  private val shared = mutable.Map.empty[ClientConfig, Shared]

  /** To be closed by the borrower; that is not the end of the client. */
  def borrow(config: ClientConfig): Lease = synchronized {
    val one = shared.getOrElseUpdate(config, new Shared(create(config)))
    one.borrowers += 1
    closeIdle()
    new Lease(one.client, () => release(one))
  }

  /** For tests: how many leases are open. */
  private[sparkkinesis] def leases: Int = synchronized(shared.values.map(_.borrowers).sum)

  private def release(one: Shared): Unit = synchronized {
    one.borrowers -= 1
    one.idleSince = clock.now
    closeIdle()
  }

  private def closeIdle(): Unit = {
    val limit = clock.now.minus(ClientPool.IdleTime.toJava)
    val idle =
      shared.filter { case (_, one) => one.borrowers == 0 && one.idleSince.isBefore(limit) }
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
  val shared: ClientPool = new ClientPool(AwsClientFactory.create(_), SystemClock)
}

/** A borrowed client. Close the lease, never the client. */
final class Lease(val client: KinesisClient, release: () => Unit) extends AutoCloseable {
  private val closed = new java.util.concurrent.atomic.AtomicBoolean

  /** Gives the client back, once. */
  override def close(): Unit = if (closed.compareAndSet(false, true)) release()
}
