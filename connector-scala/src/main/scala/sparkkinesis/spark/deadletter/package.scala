package sparkkinesis.spark

/**
 * Rows that are not written, kept in files (option `deadLetterPath`). Executors write them, one
 * file per task attempt; the driver publishes the files of a batch when Spark commits it. Has no
 * threads.
 */
package object deadletter
