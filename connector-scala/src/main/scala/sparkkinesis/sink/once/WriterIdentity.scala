package sparkkinesis.sink.once

import scala.util.Try

/**
 * Who wrote an aggregate: the text of its tag.
 *
 * @param query ID of the query
 * @param batch ID of the batch
 * @param incarnation differs if the batch has other offsets, another stream or another checkpoint
 *   folder than before
 * @param run which attempt of the whole batch
 * @param partition of the batch
 * @param task which attempt of the partition; a later one has a higher number
 */
private[sparkkinesis] final case class WriterIdentity(
    query: String,
    batch: Long,
    incarnation: String,
    run: Long,
    partition: Int,
    task: Long
) {

  /** Words separated by spaces. */
  def text: String =
    Seq(query, batch.toString, incarnation, run.toString, partition.toString, task.toString)
      .mkString(" ")

  /** Whether a record of that writer belongs to the same batch. */
  def isSameBatch(that: WriterIdentity): Boolean =
    query == that.query && batch == that.batch && incarnation == that.incarnation
}

private[sparkkinesis] object WriterIdentity {

  /** `None` if the text has another form. */
  def parse(text: String): Option[WriterIdentity] = text.split(' ') match {
    case Array(query, batch, incarnation, run, partition, task) =>
      Try(
        WriterIdentity(query, batch.toLong, incarnation, run.toLong, partition.toInt, task.toLong)
      ).toOption
    case _ => None
  }
}
