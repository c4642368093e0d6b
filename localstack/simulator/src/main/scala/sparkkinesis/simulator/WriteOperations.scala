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
      (routed, owner) = Write.route(found, entry)
      _ <- admission
        .refusal(stream, owner.id, entry)
        .map(Failure.Refused(ErrorCode.ThroughputExceeded, _))
        .toLeft(())
      (next, written) = Write.append(routed, owner, entry, now)
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
        val (appended, result) = put(sofar, entry, now, admission)
        results += result
        appended
      }
      (state.updated(next), results.result())
    }

  private def put(
      found: StreamState,
      entry: PutEntry,
      now: Instant,
      admission: Admission
  ): (StreamState, PutResult) = {
    val (routed, owner) = Write.route(found, entry)
    admission.refusal(stream, owner.id, entry) match {
      case Some(message) =>
        (routed, PutResult.Failed(ErrorCode.ThroughputExceeded.name, message))
      case None => Write.append(routed, owner, entry, now)
    }
  }
}

private[simulator] object Write {

  /** The shard that the record goes to. */
  def route(stream: StreamState, entry: PutEntry): (StreamState, ShardState) =
    (stream, stream.owner(entry.explicitHashKey.getOrElse(HashKey.of(entry.partitionKey))))

  def append(
      stream: StreamState,
      owner: ShardState,
      entry: PutEntry,
      now: Instant
  ): (StreamState, PutResult.Written) = {
    val appended = owner.trimmed(stream.horizonMillis(now)).append(entry, now)
    (stream.updated(appended), PutResult.Written(owner.id, appended.records.last.sequenceNumber))
  }
}
