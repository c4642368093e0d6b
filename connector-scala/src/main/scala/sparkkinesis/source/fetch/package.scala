package sparkkinesis.source

/**
 * Reads shards ahead of the batches. Runs on the executors, one [[fetch.FetchService]] per query
 * run.
 *
 * [[fetch.FetchLoop]] decides, and has no threads. [[fetch.FetchService]] owns the threads, and a
 * simulation takes its place. [[fetch.ShardFetcher]] belongs to the thread that runs it, or to the
 * loop between two runs.
 */
package object fetch
