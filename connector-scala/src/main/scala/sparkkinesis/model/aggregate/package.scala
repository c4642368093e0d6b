package sparkkinesis.model

/**
 * Aggregated records of the Kinesis Producer Library: builds them, and finds their sub-records.
 * Runs on executors. Its objects are reused by one thread each.
 */
package object aggregate
