package sparkkinesis.bench

import scala.annotation.tailrec
import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import software.amazon.awssdk.services.kinesis.model.ProvisionedThroughputExceededException

import sparkkinesis.model.{HashKey, HashKeyRange}

/**
 * @param share of what the busiest shard would have taken
 * @param throttledPercent of all records sent
 */
final case class QuotaUse(share: Double, throttledPercent: Double)

object QuotaUse {

  /** A shard's quota. */
  val RecordsPerSecond = 1000

  private val RetryPause = 1.second

  /** Of a stream whose shards have even ranges, from the times at which records arrived. */
  def ofBusiest(
      client: RawClient,
      stream: String,
      shards: Int,
      key: Int => String,
      records: Int
  ): Double = {
    val ranges = HashKeyRange.even(shards)
    val counts = (0 until records).map(key).groupMapReduce(identity)(_ => 1)(_ + _)
    val load = counts.toSeq.groupMapReduce { case (key, _) =>
      ranges.indexWhere(_.contains(HashKey.of(key)))
    }(_._2)(_ + _)
    val busiest = client.shards(stream)(load.maxBy(_._2)._1)
    share(arrivals(client, client.iterator(stream, busiest, "TRIM_HORIZON"), Vector.empty))
  }

  /**
   * What arrived, of what could have from the first record to the last: a second's quota that a
   * shard has saved up, and each further second's.
   *
   * @param millis when records arrived
   */
  def share(millis: Seq[Long]): Double = {
    val seconds = (millis.max - millis.min) / 1000.0
    millis.size / (RecordsPerSecond * (1 + seconds))
  }

  /** Reads have a quota, too. */
  @tailrec
  private def arrivals(client: RawClient, iterator: String, sofar: Vector[Long]): Seq[Long] = {
    val answer =
      try Some(client.sdk.getRecords { b => b.shardIterator(iterator); () })
      catch { case _: ProvisionedThroughputExceededException => None }
    answer match {
      case None =>
        Waiting.sleep(RetryPause)
        arrivals(client, iterator, sofar)
      case Some(page) =>
        val all = sofar ++ page.records.asScala.map(_.approximateArrivalTimestamp.toEpochMilli)
        if (page.millisBehindLatest == 0) all else arrivals(client, page.nextShardIterator, all)
    }
  }
}
