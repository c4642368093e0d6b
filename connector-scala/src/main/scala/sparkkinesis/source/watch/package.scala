package sparkkinesis.source

/**
 * Checks, while a query runs, that each stream is still the same one, that the query will read each
 * of its shards, and that no record is about to expire. Runs on the driver.
 *
 * [[watch.WatchService]] owns the threads, which list the shards; all other files run in those
 * threads or are pure.
 */
package object watch
