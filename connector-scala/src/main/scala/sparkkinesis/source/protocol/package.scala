package sparkkinesis.source

/**
 * The messages between the driver and the executors' fetch services, and the values in them:
 * reports of pages, and assignments of shards.
 *
 * Immutable and serializable, used on both sides.
 */
package object protocol
