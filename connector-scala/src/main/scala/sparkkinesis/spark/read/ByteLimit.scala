package sparkkinesis.spark.read

import org.apache.spark.sql.connector.read.streaming.ReadLimit

/** At most so many bytes in a micro-batch. Spark has a limit of its own only from 4.0 on. */
private[spark] final case class ByteLimit(bytes: Long) extends ReadLimit
