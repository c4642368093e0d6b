package sparkkinesis.source.position

import scala.annotation.tailrec

import sparkkinesis.client.{Clock, KinesisException, ShardIterator}
import sparkkinesis.model.{Position, Record, SequenceNumber, ServiceLimits, Shard}
import sparkkinesis.source.{SourceException, StreamClient}

/** Looks for one record by its sequence number, as positions name it. */
final class RecordLookup(stream: StreamClient, clock: Clock) {
  import stream.{client, ref}

  /**
   * `None` where the shard does not have it, or not any more.
   *
   * @param option that names it, for the message
   * @throws SourceException where it can be none of the shard's
   */
  def find(option: String, shard: Shard, number: SequenceNumber): Option[Record] = {
    RecordLookup.refusal(shard, number).foreach(refuse(option, shard, number, _))
    val position = Position.AtSequenceNumber(number)
    val iterator =
      try client.shardIterator(ref, shard.id, position)
      catch {
        case e: KinesisException.InvalidArgument => refuse(option, shard, number, e.getMessage)
      }
    first(iterator).filter(_.sequenceNumber == number)
  }

  private def refuse(option: String, shard: Shard, number: SequenceNumber, why: String): Nothing =
    throw new SourceException(
      "KINESIS_UNKNOWN_POSITION",
      s"Option '$option' has sequence number $number for ${shard.id} of stream $ref, which it cannot " +
        s"have: $why. Take it from a record of this shard."
    )

  @tailrec
  private def first(iterator: ShardIterator): Option[Record] = {
    val page = client.getRecords(ref, iterator, 1)
    (page.records.headOption, page.next) match {
      case (None, Some(next)) if page.millisBehindLatest > 0 =>
        clock.sleep(ServiceLimits.GetRecordsPeriod)
        first(next)
      case (found, _) => found
    }
  }
}

object RecordLookup {

  /** Why the shard cannot have such a record, as far as its listing tells. */
  def refusal(shard: Shard, number: SequenceNumber): Option[String] =
    if (number < shard.first) Some(s"those of this shard begin at ${shard.first}")
    else {
      // kinesis-local ends every closed shard at 2^63 - 1, which is no number of its own.
      val last = shard.last.filter(_ >= shard.first)
      last.filter(number > _).map(last => s"those of this shard end at $last")
    }
}
