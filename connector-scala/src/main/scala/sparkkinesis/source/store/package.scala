package sparkkinesis.source

/**
 * The pages that an executor has read ahead, in memory and on its local disk. The fetch services of
 * all queries share the memory. Runs on the executors.
 *
 * [[store.PageStore]] has no threads and is safe for all that call it: fetchers, the reporter,
 * tasks. The disk is behind the trait [[store.SpillSpace]], so that nothing here knows Spark.
 */
package object store
