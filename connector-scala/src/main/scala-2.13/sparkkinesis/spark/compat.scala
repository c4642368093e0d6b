package sparkkinesis.spark.compat

import org.apache.spark.sql.connector.write.{DataWriter, Write}

/** Spark 4 calls `writeAll`. The other Scala version has the shim for Spark 3.5. */
trait DataWriterShim[T] extends DataWriter[T]

/** Spark 4 calls `reportDriverMetrics`. The other Scala version has the shim for Spark 3.5. */
trait WriteShim extends Write
