package sparkkinesis.sink.once

import sparkkinesis.model.{SequenceNumber, ShardId}

/** A question of a task attempt to the driver. Travels. */
private[sparkkinesis] sealed trait WriterAsk extends Serializable {
  def partition: Int

  /** The attempt. A later one has a higher number. */
  def task: Long
}

private[sparkkinesis] object WriterAsk {

  /**
   * May the attempt send? Asked again and again while it runs.
   *
   * @param isFirst whether the attempt has not received `Held` yet
   */
  final case class Hold(partition: Int, task: Long, isFirst: Boolean) extends WriterAsk

  /**
   * Which of its aggregates are in these shards, or in shards that came from them?
   *
   * @param number of the question, which rises. A new look into the stream for each number: a
   *   question that the driver receives late would be taken for younger than it is
   */
  final case class Recover(partition: Int, task: Long, number: Long, shards: Seq[ShardInDoubt])
      extends WriterAsk

  /**
   * Every row of the attempt is in the stream.
   *
   * @param skipped how many of the rows that earlier runs of the batch wrote the attempt has
   * @param total of its rows, also of those that it skipped; zero if the write has no name
   */
  final case class Finish(partition: Int, task: Long, skipped: Long, total: RowTotal)
      extends WriterAsk
}

/**
 * A shard with records of unknown outcome.
 *
 * @param ageMillis how long ago the first of them was sent
 * @param after a record of the shard that comes before all of them; none if no record is known
 */
private[sparkkinesis] final case class ShardInDoubt(
    shard: ShardId,
    ageMillis: Long,
    after: Option[SequenceNumber]
)

/** The driver's answer. Travels. */
private[sparkkinesis] sealed trait WriterAnswer extends Serializable

private[sparkkinesis] object WriterAnswer {

  /**
   * The attempt may send for so many milliseconds since it asked.
   *
   * @param rows in the first answer: hashes of the rows that earlier attempts of the partition
   *   wrote in this run
   */
  final case class Held(millis: Long, rows: Array[Byte]) extends WriterAnswer

  /** The driver lives, and works on it. Ask again soon. */
  case object NotYet extends WriterAnswer

  /** @param digests of the attempt's aggregates in the stream */
  final case class Recovered(digests: Array[Byte]) extends WriterAnswer

  case object Finished extends WriterAnswer

  /** The attempt must end. */
  final case class Refused(condition: String, message: String) extends WriterAnswer
}
