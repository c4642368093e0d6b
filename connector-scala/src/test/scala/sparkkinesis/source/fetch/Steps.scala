package sparkkinesis.source.fetch

import sparkkinesis.client.Moment
import sparkkinesis.shard.feed.ReadStep

/** Runs fetchers at once, as far as they are ready. */
object Steps {
  implicit final class Stepping(fetcher: ShardFetcher) {

    /**
     * @param shards number of shards that share the store
     * @param isOldest whether the fetcher is behind all others
     */
    def step(at: Moment, shards: Int = 1, isOldest: Boolean = false): ReadStep[FetchedPage] =
      fetcher.prepare(at, shards, isOldest).getOrElse(fetcher.run(at))
  }
}
