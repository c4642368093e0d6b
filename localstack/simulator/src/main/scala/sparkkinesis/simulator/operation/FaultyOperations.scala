package sparkkinesis.simulator.operation

import java.time.Instant

import scala.util.Random

import sparkkinesis.client.{Page, PutResult, StreamStatus}
import sparkkinesis.model.StreamArn
import sparkkinesis.simulator.state._

/** `GetRecords` with an empty page, whose next iterator is the same one. */
private[simulator] final case class EmptyGetRecords(read: GetRecords) extends ReadOnly[Page] {
  override def name: String = read.name

  override def subject: Subject = read.subject

  override def answer(state: State, now: Instant): Either[Failure, Page] =
    read.answer(state, now).map { page =>
      val behind = math.max(page.millisBehindLatest.getOrElse(0L), 1L)
      Page(Vector.empty, Some(read.iterator), behind, Nil)
    }
}

/**
 * `PutRecords` for the entries that do not fail, in an order of its own.
 *
 * @param failing indexes of the entries that fail
 * @param code why they fail
 * @param order indexes of all entries, in the order in which they are written
 */
private[simulator] final case class PartialPutRecords(
    put: PutRecords,
    failing: Set[Int],
    code: ErrorCode,
    order: Seq[Int]
) extends Writing[PutAnswer[Seq[PutResult]]] {
  private val failed: PutResult = PutResult.Failed(code.name, "Injected.")

  override def change(
      state: State,
      now: Instant,
      admission: Admission
  ): Either[Failure, (State, PutAnswer[Seq[PutResult]])] = {
    val tried = order.filterNot(failing)
    val entries = put.entries.toIndexedSeq
    if (tried.isEmpty) Right((state, PutAnswer(entries.map(_ => failed), None)))
    else
      PutRecords(put.stream, tried.map(entries)).change(state, now, admission).map {
        case (next, answer) =>
          val results = tried.zip(answer.result).toMap
          (next, answer.copy(result = entries.indices.map(results.getOrElse(_, failed))))
      }
  }
}

private[simulator] object PartialPutRecords {

  /** Some entries are throttled, and the others are written in their order. */
  def throttled(put: PutRecords, failing: Set[Int]): PartialPutRecords =
    PartialPutRecords(put, failing, ErrorCode.ThroughputExceeded, put.entries.indices)

  /** What AWS may do with the call. */
  def byChance(put: PutRecords, behaviour: Behaviour, random: Random): PartialPutRecords = {
    val indexes = put.entries.indices.toVector
    val failing = indexes.filter(_ => random.nextDouble() < behaviour.failedEntries).toSet
    val order =
      if (random.nextDouble() < behaviour.shuffledPuts) random.shuffle(indexes) else indexes
    PartialPutRecords(put, failing, ErrorCode.InternalFailure, order)
  }
}

/** Deletes a stream, and creates it again with the same name and number of open shards. */
private[simulator] final case class RecreateStream(stream: StreamArn) extends Changing[Unit] {
  override def change(state: State, now: Instant): Either[Failure, (State, Unit)] =
    for {
      found <- state.existing(stream, now)
      // The new stream is at least one second younger, because iterators and sequence numbers
      // differ by the second.
      later = found.created.plusSeconds(1)
      created = if (now.isBefore(later)) later else now
      without = state.copy(streams = state.streams - stream)
      again <- CreateStream(stream, found.open.size, found.config.mode, found.config.distribution)
        .change(without, created)
        .map(_._1)
      made <- again.existing(stream, created)
      change = Change(StreamStatus.Creating, state.settings.changed(now))
    } yield (again.updated(made.copy(change = change)), ())
}

/** The record is in the right shard, but its result names the next one. */
private[simulator] object WrongShard {
  def misnamed(written: PutResult.Written): PutResult.Written =
    written.copy(shard = ShardState.number(written.shard).fold(written.shard) { number =>
      ShardState.id(number + 1)
    })

  def misnamed(result: PutResult): PutResult = result match {
    case written: PutResult.Written => misnamed(written)
    case failed: PutResult.Failed => failed
  }
}
