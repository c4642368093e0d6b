package sparkkinesis.source.checkpoint

import java.util.concurrent.ConcurrentHashMap

import sparkkinesis.client.KinesisException
import sparkkinesis.model.ConsumerArn
import sparkkinesis.shard.SharedMap

/**
 * Which consumers the queries of this driver use: two queries with one consumer would end each
 * other's subscriptions again and again. Thread-safe.
 */
private[sparkkinesis] object ConsumerClaims {
  private lazy val claims =
    SharedMap.ofJvm("ConsumerClaims", new ConcurrentHashMap[String, String])

  /** @throws KinesisException.ConsumerInUse if a streaming query uses one of the consumers */
  def check(consumers: Iterable[ConsumerArn]): Unit =
    consumers.find(it => claims.containsKey(it.toString)).foreach(it => throw inUse(it))

  /**
   * @param run the query run that uses the consumers
   * @return gives them back
   * @throws KinesisException.ConsumerInUse if another query uses one of them
   */
  def claim(consumers: Seq[ConsumerArn], run: String): AutoCloseable = {
    def giveBack(): Unit = consumers.foreach(it => claims.remove(it.toString, run))
    consumers.filter(it => claims.putIfAbsent(it.toString, run) != null).foreach { taken =>
      giveBack()
      throw inUse(taken)
    }
    () => giveBack()
  }

  private def inUse(consumer: ConsumerArn) = new KinesisException.ConsumerInUse(
    s"Another query of this Spark application reads with consumer $consumer."
  )
}
