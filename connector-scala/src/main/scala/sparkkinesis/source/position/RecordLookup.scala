package sparkkinesis.source.position

import scala.annotation.tailrec

import sparkkinesis.client.{Clock, KinesisException, ShardIterator}
import sparkkinesis.model.{Position, Record, SequenceNumber, ServiceLimits, Shard}
import sparkkinesis.source.{DataLoss, StreamClient}

/** Finds the record whose sequence number a position names. */
final class RecordLookup(stream: StreamClient, check: PositionCheck[_], clock: Clock) {
  import stream.{client, ref}

  /**
   * The record; `None` if the shard does not contain it, or no longer. A second look confirms it.
   *
   * @throws SourceException if the number cannot belong to this shard
   */
  def find(shard: Shard, number: SequenceNumber): Option[Record] = {
    PositionCheck.reasonAgainst(shard, number).foreach(refuse(shard, number, _))
    look(shard, number).orElse {
      // A shard's first number need not belong to a record.
      if (number == shard.first) None
      else {
        clock.sleep(DataLoss.secondLook(chance = 0))
        look(shard, number)
      }
    }
  }

  private def look(shard: Shard, number: SequenceNumber): Option[Record] = {
    val iterator =
      try client.shardIterator(ref, shard.id, Position.AtSequenceNumber(number))
      catch { case e: KinesisException.InvalidArgument => refuse(shard, number, e.getMessage) }
    first(iterator, 1).filter(_.sequenceNumber == number)
  }

  private def refuse(shard: Shard, number: SequenceNumber, reason: String): Nothing =
    throw check.foreignNumber(shard.id, number, reason).atStart

  @tailrec
  private def first(iterator: ShardIterator, calls: Int): Option[Record] = {
    val page = client.getRecords(ref, iterator, 1)
    (page.records.headOption, page.next) match {
      case (None, Some(next)) if !page.isAtTip && calls < RecordLookup.MostCalls =>
        clock.sleep(ServiceLimits.GetRecordsPeriod)
        first(next, calls + 1)
      case (found, _) => found
    }
  }
}

private object RecordLookup {

  /** Kinesis returns some empty pages before a record, but not this many. */
  val MostCalls = 200
}
