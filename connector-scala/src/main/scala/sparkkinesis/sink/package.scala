package sparkkinesis

/**
 * The sink without Spark: options, and the writer that a task on an executor uses. `write` sends
 * requests, `lane` queues records per shard, `rate` limits the rate per shard, and `metrics`
 * counts. This folder itself holds only options, and has no threads.
 */
package object sink
