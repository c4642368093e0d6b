package sparkkinesis

/**
 * Reads one shard, for source and sink. `feed` gets its pages and decides what they mean, `pace`
 * says how fast the service may be asked. Runs on the driver and on the executors.
 */
package object shard
