package sparkkinesis

/**
 * The values of Kinesis and their laws: streams, shards, hash keys, sequence numbers, records and
 * limits. Runs on driver and executors. Has no threads, no clock and no I/O, and uses nothing else
 * of the connector.
 */
package object model
