package sparkkinesis.bench.scenario

import java.nio.charset.StandardCharsets.UTF_8

import scala.annotation.tailrec
import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import software.amazon.awssdk.services.kinesis.model.{
  ProvisionedThroughputExceededException,
  Record
}

import sparkkinesis.bench.raw.{RawClient, Waiting}
import sparkkinesis.model.ServiceLimits

/**
 * A record that a shard accepted.
 *
 * @param bytes size that the quota counts, with the partition key
 */
final case class Arrival(millis: Long, bytes: Int)

object Arrival {
  def of(record: Record): Arrival = Arrival(
    record.approximateArrivalTimestamp.toEpochMilli,
    record.data.asByteArrayUnsafe.length + record.partitionKey.getBytes(UTF_8).length
  )
}

/** Computes how much of its quota a shard used. */
object QuotaUse {
  val BytesPerSecond: Double = 1024.0 * 1024
  private val RecordsPerSecond = 1000.0

  /** Number of records of one size that a shard accepts per second. */
  def perSecond(bytesWithKey: Int): Double =
    math.min(RecordsPerSecond, BytesPerSecond / bytesWithKey)

  /**
   * The records of a shard, as a fraction of what it could have accepted from the first record to
   * the last: a bucket of one second, and the quota of each further second. Of the quotas of
   * records and of bytes, the one that was used more counts.
   */
  def share(arrivals: Seq[Arrival]): Double = {
    val bytes = arrivals.iterator.map(_.bytes.toLong).sum
    math.max(arrivals.size / RecordsPerSecond, bytes / BytesPerSecond) / (1 + seconds(arrivals))
  }

  /** Seconds from the first record to the last. */
  def seconds(arrivals: Seq[Arrival]): Double = {
    val millis = arrivals.map(_.millis)
    (millis.max - millis.min) / 1000.0
  }

  /** The records of a shard. */
  def arrivals(client: RawClient, stream: String, shard: String): Seq[Arrival] =
    arrivals(client, client.iterator(stream, shard, "TRIM_HORIZON"), Vector.empty)

  /** Reads at the pace that the quota of reads allows. */
  @tailrec
  private def arrivals(
      client: RawClient,
      iterator: String,
      sofar: Vector[Arrival]
  ): Seq[Arrival] = {
    val answer =
      try Some(client.sdk.getRecords { b => b.shardIterator(iterator); () })
      catch { case _: ProvisionedThroughputExceededException => None }
    answer match {
      case None =>
        Waiting.sleep(1.second)
        arrivals(client, iterator, sofar)
      case Some(page) =>
        val all = sofar ++ page.records.asScala.map(Arrival.of)
        if (page.millisBehindLatest == 0) all
        else {
          Waiting.sleep(ServiceLimits.GetRecordsPeriod)
          arrivals(client, page.nextShardIterator, all)
        }
    }
  }
}
