package sparkkinesis.simulator

import java.time.Instant

import sparkkinesis.client.PutResult
import sparkkinesis.model.{HashKey, PutEntry, StreamArn}

final case class PutRecord(stream: StreamArn, entry: PutEntry) extends Writing[PutResult.Written] {
  override def change(
      state: State,
      now: Instant,
      admission: Admission
  ): Either[Failure, (State, PutResult.Written)] =
    for {
      found <- state.serving(stream, now)
      _ <- Check.entry(entry, found.maxRecordBytes)
      _ <- admission
        .refusal(stream, Write.owner(found, entry).id, entry)
        .map(Failure.Refused(ErrorCode.ThroughputExceeded, _))
        .toLeft(())
      (next, written) = Write.append(found, entry, now)
    } yield (state.updated(next), written)
}

/** @param entries 1 to 500, at most 10 MiB with their partition keys */
final case class PutRecords(stream: StreamArn, entries: Seq[PutEntry])
    extends Writing[Seq[PutResult]] {
  override def change(
      state: State,
      now: Instant,
      admission: Admission
  ): Either[Failure, (State, Seq[PutResult])] =
    for {
      found <- state.serving(stream, now)
      _ <- Check.entries(entries, found.maxRecordBytes)
    } yield {
      val results = Vector.newBuilder[PutResult]
      val next = entries.foldLeft(found) { (sofar, entry) =>
        admission.refusal(stream, Write.owner(sofar, entry).id, entry) match {
          case Some(message) =>
            results += PutResult.Failed(ErrorCode.ThroughputExceeded.name, message)
            sofar
          case None =>
            val (appended, written) = Write.append(sofar, entry, now)
            results += written
            appended
        }
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
    val owner = Write.owner(stream, entry)
    val appended = owner.trimmed(stream.horizonMillis(now)).append(entry, now)
    (stream.updated(appended), PutResult.Written(owner.id, appended.records.last.sequenceNumber))
  }

  /** The shard it goes to. */
  def owner(stream: StreamState, entry: PutEntry): ShardState =
    stream.owner(entry.explicitHashKey.getOrElse(HashKey.of(entry.partitionKey)))
}
