package sparkkinesis.spark.read

import org.apache.spark.sql.connector.read.streaming.ReadLimit

/** Maximum number of bytes per micro-batch. Spark 3.5 has no such limit of its own. */
private[spark] final case class ByteLimit(bytes: Long) extends ReadLimit
