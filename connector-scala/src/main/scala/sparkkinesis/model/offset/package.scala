package sparkkinesis.model

/**
 * How far shards, streams and a whole source have been read: the values of a checkpoint. Runs on
 * driver and executors, has no threads.
 */
package object offset
