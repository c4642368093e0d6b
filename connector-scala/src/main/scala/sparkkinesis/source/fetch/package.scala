package sparkkinesis.source

/**
 * Reads shards ahead of the batches. Runs on the executors, one [[fetch.FetchService]] per query
 * run.
 *
 * [[fetch.FetchService]] owns the threads that read, and [[fetch.FetchReporter]] the one that talks
 * to the driver. The rest belongs to one thread at a time.
 */
package object fetch
