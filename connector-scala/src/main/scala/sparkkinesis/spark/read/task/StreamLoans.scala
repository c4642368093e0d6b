package sparkkinesis.spark.read.task

import scala.concurrent.duration.FiniteDuration

import sparkkinesis.client.aws.ClientPool
import sparkkinesis.client.{ClientConfig, Loan, Pool, StreamAccess, SystemClock}
import sparkkinesis.model.{ConsumerArn, StreamArn}
import sparkkinesis.shard.StreamClient
import sparkkinesis.shard.pace.SharedReads

/**
 * The streams that this JVM reads. All readers with the same configuration share a stream's client
 * and its [[SharedReads]], also those of other queries.
 */
private[task] object StreamLoans {
  private val shared = new Pool[(ClientConfig, StreamArn), SharedReads](
    { case (config, _) =>
      val client = ClientPool.shared.borrow(config)
      try new SharedReads(client.value.isAws)
      finally client.close()
    },
    SystemClock
  )

  /** The borrower must close the loan. */
  def borrow(arn: StreamArn, access: StreamAccess): Loan[StreamClient] =
    borrowAll(Map(arn -> access), Map.empty).head._2

  /**
   * Borrows one client per stream. If one loan fails, the others are given back.
   *
   * @param retention of streams, as the driver knows it
   * @param consumers of enhanced fan-out
   */
  def borrowAll(
      streams: Map[StreamArn, StreamAccess],
      retention: Map[StreamArn, FiniteDuration],
      consumers: Map[StreamArn, ConsumerArn] = Map.empty
  ): Map[StreamArn, Loan[StreamClient]] = {
    val (arns, access) = streams.toSeq.unzip
    val clients = ClientPool.shared.borrowAll(access.map(_.client))
    arns
      .zip(access)
      .zip(clients)
      .map { case ((arn, to), client) =>
        val reads = shared.borrow(to.client -> arn)
        retention.get(arn).foreach(reads.value.facts.learn(_, SystemClock.steady))
        arn -> new Loan(
          StreamClient(to.ref, client.value, reads.value, consumers.get(arn)),
          () => {
            reads.close()
            client.close()
          }
        )
      }
      .toMap
  }
}
