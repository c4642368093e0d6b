package sparkkinesis.spark

/**
 * The source, as Spark calls it. On the driver, [[read.KinesisMicroBatchStream]] and
 * [[read.KinesisBatch]] plan a read; [[read.SourceService]] carries out what a running query
 * decides, and answers the executors over Spark's RPC. On an executor, [[read.task.FetchServices]]
 * holds one fetch service per query run, and a [[read.task.KinesisPartitionReader]] per task turns
 * pages into rows. The threads are Spark's, those of the [[read.SourceService]] and those of
 * `source/fetch`.
 */
package object read
