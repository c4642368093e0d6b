package sparkkinesis.spark.metrics

import org.apache.spark.sparkkinesis.Messages

/**
 * The counts of a task attempt that has ended. It travels as bytes, because the driver cannot
 * deserialize a class of a jar that the session added.
 *
 * @param isCommitted whether the attempt succeeded
 */
private[spark] final case class TaskReport(counts: WriteCounts, isCommitted: Boolean) {
  def toBytes: Array[Byte] = Messages.encode(this)
}

private[spark] object TaskReport {
  def parse(bytes: Array[Byte]): TaskReport = Messages.decode(bytes)
}
