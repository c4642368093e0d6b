package sparkkinesis.spark

/**
 * Bad rows, kept in files (option `deadLetterPath`). Executors write them, one file per task
 * attempt; the driver publishes the files of a batch when Spark commits it. Has no threads. Uses
 * Hadoop's file systems and the errors; calls no service.
 */
package object deadletter
