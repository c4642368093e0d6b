package sparkkinesis.source.scale

import sparkkinesis.model.StreamShard
import sparkkinesis.model.offset.Progress
import sparkkinesis.source.protocol._

/** What the driver sees of an executor: a page per shard, and heartbeats. It reads nothing. */
final class StubExecutor(val id: String) {
  import StubExecutor._

  private var version = 0L
  private var readings = Map.empty[StreamShard, Reading]
  private var unsent = Vector.empty[FetchReport]

  def shards: Iterable[StreamShard] = readings.keys

  /** Whether a shard has not been read up to this position. */
  def isBehind(tip: Progress): Boolean = readings.valuesIterator.exists(_.tip != tip)

  /** Reads each shard up to a position, in one page, perhaps an empty one. */
  def read(upTo: Progress, millis: Long): Unit = {
    unsent ++= readings.valuesIterator.map { case Reading(it, from) =>
      val marks = if (from == upTo) Vector.empty else Vector(Mark(upTo, 1000, 1000000, millis))
      FetchReport(it.shard, it.generation, from, marks, Nil, 0, millis)
    }
    readings = readings.transform((_, it) => it.copy(tip = upTo))
  }

  def beat(): Heartbeat = {
    val beat = Heartbeat(id, s"host-$id", unsent, FetchCounters.Zero, None, version, service = id)
    unsent = Vector.empty
    beat
  }

  /** The kind under which the cost of a heartbeat is counted. */
  def kind(beat: Heartbeat): String =
    if (version == 0) "join"
    else if (beat.reports.exists(_.marks.nonEmpty)) "pages"
    else if (beat.reports.nonEmpty) "empty pages"
    else "quiet"

  def answered(reply: HeartbeatReply): Unit = {
    version = reply.version
    reply.plan.foreach { plan =>
      readings = plan.assignments.map { it =>
        val known = readings.get(it.shard).filter(_.assignment.generation == it.generation)
        it.shard -> Reading(it, known.fold(it.from)(_.tip))
      }.toMap
    }
  }
}

private object StubExecutor {
  private final case class Reading(assignment: Assignment, tip: Progress)
}
