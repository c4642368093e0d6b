package sparkkinesis.source.checkpoint

import org.slf4j.LoggerFactory

import sparkkinesis.model.offset.{Progress, SourceOffset}
import sparkkinesis.model.{Position, ShardId, StreamArn, StreamShard}
import sparkkinesis.source.position.ByShard

/**
 * Logs where a run begins to read each shard, and where the checkpoint begins elsewhere than the
 * options say. Only the query's thread uses it.
 *
 * @param starts the starts in the options
 * @param recorded the first offset of the query; `None` if the checkpoint lacks it
 */
final class StartLog(
    starts: => Map[StreamArn, ByShard[Position]],
    recorded: => Option[SourceOffset]
) {
  import StartLog._

  private val log = LoggerFactory.getLogger(classOf[StartLog])
  private var last = Option.empty[SourceOffset]
  private var logged = Set.empty[StreamShard]

  /** Logs the shards of which it has not logged the start. */
  def begin(from: SourceOffset): Unit = if (!last.exists(_ eq from)) {
    if (last.isEmpty) recorded.foreach(first => ignored(starts, first).foreach(log.warn(_)))
    last = Some(from)
    val fresh = from.readable.filter { case (id, _) => !logged(id) }
    logged = (logged ++ fresh.keySet).intersect(from.readable.keySet)
    fresh.groupBy { case (id, _) => id.stream }.toSeq.sortBy(_._1).foreach { case (arn, shards) =>
      log.info(text(arn, shards.toSeq.map { case (id, at) => id.shard -> at }.sortBy(_._1)))
    }
  }
}

private object StartLog {

  /** A message about more shards would not be read. */
  private val MaxShards = 20

  private def text(arn: StreamArn, shards: Seq[(ShardId, Progress)]): String = {
    val some =
      shards.take(MaxShards).map { case (id, progress) => s"${id.name} ${place(progress)}" }
    val others =
      if (shards.size > MaxShards) s", and ${shards.size - MaxShards} other shards" else ""
    s"Reading stream $arn begins: ${some.mkString(", ")}$others."
  }

  private def place(progress: Progress): String = progress match {
    case Progress.TrimHorizon => "at the oldest record"
    case Progress.AtTimestamp(instant) => s"with the records since $instant"
    case Progress.From(number) => s"at record ${number.text}"
    case Progress.After(number) => s"after record ${number.text}"
    case Progress.Finished => "at its end"
  }

  /** The messages: one per stream whose first offset is not what the option says now. */
  private def ignored(
      starts: Map[StreamArn, ByShard[Position]],
      recorded: SourceOffset
  ): Iterable[String] =
    for {
      (arn, first) <- recorded.streams
      start <- starts.get(arn)
      (id, shard) <- first.shards.find { case (id, it) => !isSame(start.of(id), it.progress) }
    } yield s"Option 'startingPosition' is ${name(start.of(id))} for $id of stream $arn, but the " +
      s"checkpoint began ${place(shard.progress)}. The query continues from its checkpoint and " +
      "ignores the option. To read from another position, use a new checkpoint location."

  private def name(position: Position): String = position match {
    case Position.Latest => "'latest'"
    case Position.TrimHorizon => "'trim_horizon'"
    case Position.AtTimestamp(instant) => s"'$instant'"
    case Position.AtSequenceNumber(number) => s"at record ${number.text}"
    case Position.AfterSequenceNumber(number) => s"after record ${number.text}"
  }

  /** The checkpoint keeps `latest` as a time. */
  private def isSame(position: Position, progress: Progress): Boolean =
    (position, progress) match {
      case (Position.Latest, _: Progress.AtTimestamp) => true
      case _ => Progress.position(progress).contains(position)
    }
}
