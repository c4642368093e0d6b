package sparkkinesis.bench

import scala.annotation.tailrec
import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import software.amazon.awssdk.services.kinesis.model.ProvisionedThroughputExceededException

import sparkkinesis.model.ServiceLimits

/**
 * @param share of what the shard that matters would have taken
 * @param throttledPercent of all records sent
 */
final case class QuotaUse(share: Double, throttledPercent: Double)

object QuotaUse {
  private val BytesPerSecond = 1024.0 * 1024
  private val RecordsPerSecond = 1000.0

  /** What a shard takes of records of one size. */
  def perSecond(bytesWithKey: Int): Double =
    math.min(RecordsPerSecond, BytesPerSecond / bytesWithKey)

  /**
   * What arrived, of what could have from the first record to the last: a second's quota that a
   * shard has saved up, and each further second's.
   *
   * @param millis when records arrived
   * @param perSecond records that a shard takes
   */
  def share(millis: Seq[Long], perSecond: Double): Double = {
    val seconds = (millis.max - millis.min) / 1000.0
    millis.size / (perSecond * (1 + seconds))
  }

  /** When the records of a shard arrived. */
  def arrivals(client: RawClient, stream: String, shard: String): Seq[Long] =
    arrivals(client, client.iterator(stream, shard, "TRIM_HORIZON"), Vector.empty)

  /** Reads have a quota, too. */
  @tailrec
  private def arrivals(client: RawClient, iterator: String, sofar: Vector[Long]): Seq[Long] = {
    val answer =
      try Some(client.sdk.getRecords { b => b.shardIterator(iterator); () })
      catch { case _: ProvisionedThroughputExceededException => None }
    answer match {
      case None =>
        Waiting.sleep(1.second)
        arrivals(client, iterator, sofar)
      case Some(page) =>
        val all = sofar ++ page.records.asScala.map(_.approximateArrivalTimestamp.toEpochMilli)
        if (page.millisBehindLatest == 0) all
        else {
          Waiting.sleep(ServiceLimits.GetRecordsPeriod)
          arrivals(client, page.nextShardIterator, all)
        }
    }
  }
}
