package sparkkinesis.source

/**
 * The offset that Spark stores in a query's checkpoint, and its comparison with the streams: the
 * first offset of a new query, the streams that join or leave, and the records that expired
 * meanwhile.
 *
 * Runs on the driver, in the query's thread. Has no threads of its own. Calls Kinesis when a query
 * starts.
 */
package object checkpoint
