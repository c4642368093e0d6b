package sparkkinesis

/**
 * The interface to Kinesis ([[client.KinesisClient]]) in the types of the model, its configuration
 * and its failures, and the clock and retries that callers use. Runs on driver and executors, in
 * the threads of its callers. Only [[client.Timer]] has a thread of its own.
 */
package object client
