package sparkkinesis.simulator.state

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.model.ServiceLimits

/**
 * The settings of the simulated service.
 *
 * @param retention retention period of new streams
 * @param changeTime how long a stream is `CREATING`, `UPDATING` or `DELETING`
 * @param shardLimit maximum number of open shards of an account in a region
 * @param listShardsCount maximum number of shards in one `ListShards` response: 1 to 1,000
 * @param quotas whether the limits of throughput and call rates apply
 * @param consumerLimit maximum number of consumers of a stream; the service allows 50 to some
 *   accounts
 * @param listLag how long after a reshard the listings still show the previous shards
 * @param writeQuota how it counts what a shard accepts, if quotas apply
 * @param behaviour what AWS does and a simple service does not
 */
final case class Settings(
    retention: FiniteDuration = ServiceLimits.DefaultRetention,
    changeTime: FiniteDuration = Duration.Zero,
    shardLimit: Int = 10000,
    listShardsCount: Int = ServiceLimits.ListShardsCount,
    quotas: Boolean = false,
    consumerLimit: Int = 20,
    listLag: FiniteDuration = Duration.Zero,
    writeQuota: WriteQuota = WriteQuota.Bucket,
    behaviour: Behaviour = Behaviour()
) {
  require(
    listShardsCount >= 1 && listShardsCount <= ServiceLimits.ListShardsCount,
    s"listShardsCount is $listShardsCount: expected 1 to ${ServiceLimits.ListShardsCount}."
  )

  private[simulator] def changed(now: Instant): Instant = now.plusMillis(changeTime.toMillis)
}
