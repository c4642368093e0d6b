package sparkkinesis.spark.read

/**
 * The source on an executor: [[task.FetchServices]] holds one fetch service per query run, and a
 * [[task.KinesisPartitionReader]] per task turns pages into rows. The driver sends the messages
 * [[task.QueryRun]] and [[task.KinesisInputPartition]]. The threads are Spark's and those of
 * `source`.
 */
package object task
