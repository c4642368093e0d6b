package sparkkinesis.client.aws

import scala.concurrent.duration.FiniteDuration
import scala.util.control.NonFatal

import sparkkinesis.client._

/**
 * One client for all who use the same configuration, so that tasks do not connect anew each batch.
 *
 * @param later runs a task on another thread, some time after now
 */
final class ClientPool(
    create: ClientConfig => KinesisClient,
    clock: Clock,
    later: (FiniteDuration, () => Unit) => Unit
) {
  private val pool = new Pool[ClientConfig, KinesisClient](create, clock, later)

  /** To be closed by the borrower; that is not the end of the client. */
  def borrow(config: ClientConfig): Lease = {
    val loan = pool.borrow(config)
    new Lease(loan.value, () => loan.close())
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
  private[sparkkinesis] def leases: Int = pool.loans
}

object ClientPool {

  /** How long a client is kept for the next borrower. */
  val IdleTime: FiniteDuration = Pool.IdleTime

  /** This JVM's. */
  val shared: ClientPool = new ClientPool(AwsClientFactory.create(_), SystemClock, Pool.later)
}

/** A borrowed client. Close the lease, never the client. */
final class Lease(val client: KinesisClient, release: () => Unit) extends AutoCloseable {
  private val loan = new Loan(client, release)

  /** Gives the client back, once. */
  override def close(): Unit = loan.close()
}
