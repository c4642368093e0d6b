package sparkkinesis.spark.read

/**
 * Spark's real-time mode (Spark 4.1 and newer), in which a task runs as long as a batch.
 *
 * On the executors [[realtime.RealTimeReads]] holds one fetch service per query run, and a
 * [[realtime.RealTimeTask]] hands out its records. The classes that implement interfaces of Spark
 * 4.1 are in `connector-scala/spark-4.1`. The threads are Spark's and those of `source/fetch`.
 */
package object realtime
