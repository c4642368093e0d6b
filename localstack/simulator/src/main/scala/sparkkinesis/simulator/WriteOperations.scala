package sparkkinesis.simulator

import java.time.Instant

import sparkkinesis.client.PutResult
import sparkkinesis.model.{HashKey, PutEntry, StreamArn}

final case class PutRecord(stream: StreamArn, entry: PutEntry) extends Changing[PutResult.Written] {
  override def change(state: State, now: Instant): Either[Failure, (State, PutResult.Written)] =
    for {
      found <- state.serving(stream, now)
      _ <- Check.entry(entry, found.maxRecordBytes)
      (next, written) = Write.append(found, entry, now)
    } yield (state.updated(next), written)
}

/** @param entries 1 to 500, at most 10 MiB with their partition keys */
final case class PutRecords(stream: StreamArn, entries: Seq[PutEntry])
    extends Changing[Seq[PutResult]] {
  override def change(state: State, now: Instant): Either[Failure, (State, Seq[PutResult])] =
    for {
      found <- state.serving(stream, now)
      _ <- Check.entries(entries, found.maxRecordBytes)
    } yield {
      val results = Vector.newBuilder[PutResult]
      val next = entries.foldLeft(found) { (stream, entry) =>
        val (appended, written) = Write.append(stream, entry, now)
        results += written
        appended
      }
      (state.updated(next), results.result())
    }
}

private[simulator] object Write {
  def append(
      stream: StreamState,
      entry: PutEntry,
      now: Instant
  ): (StreamState, PutResult.Written) = {
    val owner = stream.owner(entry.explicitHashKey.getOrElse(HashKey.of(entry.partitionKey)))
    val appended = owner.trimmed(stream.horizonMillis(now)).append(entry, now)
    (
      stream.updated(appended),
      PutResult.Written(owner.id, appended.records.sequenceNumber(owner.end))
    )
  }
}
