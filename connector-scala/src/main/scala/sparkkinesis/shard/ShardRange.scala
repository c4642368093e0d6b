package sparkkinesis.shard

import java.time.Instant

import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{SequenceNumber, StreamShard}

/**
 * The part of a shard that one batch reads: after `from`, up to and including `upTo`.
 *
 * @param upTo `After` a record, or `Finished`
 * @param completeAsOf of the shard at `from`; see [[sparkkinesis.model.offset.ShardProgress]]
 * @param first the first record of the range, if it is known and `from` does not name one
 * @param until the end of a batch read that ends at a time; `upTo` is `Finished` then
 * @param sinceMillis with it, only the records that arrived at this time or later belong to the
 *   range, although it contains others
 * @param batches of a replay: the micro-batches that the range consists of, in order
 */
private[sparkkinesis] final case class ShardRange(
    shard: StreamShard,
    from: Progress,
    upTo: Progress,
    completeAsOf: Option[Instant] = None,
    until: Option[ReadUntil] = None,
    first: Option[SequenceNumber] = None,
    sinceMillis: Option[Long] = None,
    batches: Vector[BatchEnd] = Vector.empty
) {

  /** Where reading the range begins. */
  def start: Progress = first.fold(from)(Progress.From(_))

  override def toString: String = until match {
    case None => s"${shard.shard} ($from, $upTo]"
    case Some(end) => s"${shard.shard} ($from, before ${Instant.ofEpochMilli(end.millis)})"
  }
}

/**
 * The end of a range in time: only the records that arrived before belong to it. All of them are
 * visible when reading begins, so the range also ends at the tip of the shard.
 *
 * @param millis since 1970 UTC
 * @param withChildren whether the task also reads the children of the shard, because the plan knew
 *   none
 */
private[sparkkinesis] final case class ReadUntil(millis: Long, withChildren: Boolean)

/**
 * The end of a micro-batch in a shard.
 *
 * @param upTo `After` the last record of the batch, or `Finished`
 */
private[sparkkinesis] final case class BatchEnd(number: Long, upTo: Progress)
