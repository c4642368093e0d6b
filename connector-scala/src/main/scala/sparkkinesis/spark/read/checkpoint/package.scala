package sparkkinesis.spark.read

/**
 * The files of a query's checkpoint, and the batch read that replays the micro-batches which they
 * name. Runs on the driver, has no threads.
 */
package object checkpoint
