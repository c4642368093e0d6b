package sparkkinesis.simulator.state

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.model.ServiceLimits

/**
 * How the simulated service behaves.
 *
 * @param retention of new streams
 * @param changeTime how long a stream is `CREATING`, `UPDATING` or `DELETING`
 * @param shardLimit open shards over all streams of an account and region
 * @param listShardsCount the most shards of one `ListShards` answer: 1 to 1,000
 * @param quotas whether the service's limits of throughput and call rate are kept
 * @param consumerLimit of a stream; the service allows 50 to some accounts
 * @param listLag how long after a reshard listings show the shards as they were before
 */
final case class Settings(
    retention: FiniteDuration = ServiceLimits.DefaultRetention,
    changeTime: FiniteDuration = Duration.Zero,
    shardLimit: Int = 10000,
    listShardsCount: Int = ServiceLimits.ListShardsCount,
    quotas: Boolean = false,
    consumerLimit: Int = 20,
    listLag: FiniteDuration = Duration.Zero
) {
  require(
    listShardsCount >= 1 && listShardsCount <= ServiceLimits.ListShardsCount,
    s"listShardsCount is $listShardsCount: expected 1 to ${ServiceLimits.ListShardsCount}."
  )

  private[simulator] def changed(now: Instant): Instant = now.plusMillis(changeTime.toMillis)
}
