package sparkkinesis.spark

/**
 * Exactly once with Spark: the log of attempts beside the checkpoint, and the services around the
 * loops of `sink/once`. On the driver, three threads check the log and read the stream. In a task,
 * one thread asks the driver.
 */
package object once
