package sparkkinesis.source.position

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.client.StreamAccess
import sparkkinesis.client.options.OptionException
import sparkkinesis.compat._
import sparkkinesis.model.{SequenceNumber, Shard, StreamRef}
import sparkkinesis.source.options.SourceOptions

/**
 * What can be wrong with positions that are well written, as far as it can be told when the
 * `DataFrame` is defined.
 *
 * @param now by this machine's clock, which may differ from the service's
 */
final class DefinedPositions(options: SourceOptions, now: Instant) {
  import DefinedPositions._

  /**
   * @param list asked once for each stream of which the positions name shards
   * @throws OptionException with the reason
   */
  def check(list: StreamAccess => Seq[Shard]): Unit = options.streams.foreach { stream =>
    val start = options.start.map(_(stream.ref))
    val end = options.end.map(_(stream.ref))
    checkTimes(stream.ref, start, end)
    for (from <- start; upTo <- end) checkOrder(stream.ref, from, upTo)
    val named = start.toSeq.flatMap(_.named.keys) ++ end.toSeq.flatMap(_.named.keys)
    if (named.nonEmpty) {
      val listed = list(stream)
      start.foreach(checkShards(stream.ref, "startingPosition", _, listed)(numberOf))
      end.foreach(checkShards(stream.ref, "endingPosition", _, listed)(numberOf))
    }
  }

  private def checkTimes(
      stream: StreamRef,
      start: Option[ByShard[StartingPosition]],
      end: Option[ByShard[EndingPosition]]
  ): Unit = {
    val starts = start.toSeq.flatMap(_.all).collect { case StartingPosition.AtTimestamp(at) => at }
    val ends = end.toSeq.flatMap(_.all).collect { case EndingPosition.Before(at) => at }
    val latest = now.plusMillis(ClockDifference.toMillis)
    (starts.map("startingPosition" -> _) ++ ends.map("endingPosition" -> _)).foreach {
      case (option, instant) if instant.isAfter(latest) =>
        refuse(option, s"$instant for stream $stream, which lies in the future: it is $now")
      case _ =>
    }
  }

  private def checkOrder(
      stream: StreamRef,
      start: ByShard[StartingPosition],
      end: ByShard[EndingPosition]
  ): Unit = {
    val places = (start.named.keySet ++ end.named.keySet).toSeq.sorted.map(id =>
      (s"$id of stream $stream", start.of(id), end.of(id))
    ) :+ ((s"stream $stream", start.others, end.others))
    places.foreach {
      case (place, StartingPosition.AtTimestamp(from), EndingPosition.Before(upTo))
          if upTo.isBefore(from) =>
        refuse("endingPosition", s"$upTo for $place, which lies before its start, $from")
      case (place, from: StartingPosition.Numbered, EndingPosition.UpTo(upTo))
          if upTo < from.number =>
        refuse("endingPosition", s"$upTo for $place, which lies before its start, ${from.number}")
      case _ =>
    }
  }

  /** One that is older than the oldest listed may have been, and is looked at when a query begins. */
  private def checkShards[A](
      stream: StreamRef,
      option: String,
      positions: ByShard[A],
      listed: Seq[Shard]
  )(number: A => Option[SequenceNumber]): Unit = {
    val last = listed.flatMap(_.id.number).maxOption.getOrElse(-1L)
    positions.named.toSeq.sortBy(_._1).foreach { case (id, position) =>
      if (id.number.exists(_ > last))
        refuse(
          option,
          s"$id, and stream $stream never had such a shard: its last is number $last " +
            "(of one that was made anew, begin with a new checkpoint location)"
        )
      for {
        shard <- listed.find(_.id == id)
        at <- number(position)
        why <- RecordLookup.refusal(shard, at)
      } refuse(option, s"$at for $id of stream $stream, which it cannot have: $why")
    }
  }
}

object DefinedPositions {
  private val ClockDifference = 1.minute

  private def numberOf(position: Any): Option[SequenceNumber] = position match {
    case numbered: StartingPosition.Numbered => Some(numbered.number)
    case EndingPosition.UpTo(number) => Some(number)
    case _ => None
  }

  private def refuse(option: String, what: String): Nothing =
    throw new OptionException(
      OptionException.InvalidOption,
      s"Option '$option' has $what. Mend it, or leave it out."
    )
}
