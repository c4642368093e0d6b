package sparkkinesis.source

/**
 * The messages between the driver and the executors' fetch services, and the values in them:
 * reports of pages, assignments of shards, ranges that tasks read.
 *
 * Immutable and serializable, used on both sides.
 */
package object protocol
