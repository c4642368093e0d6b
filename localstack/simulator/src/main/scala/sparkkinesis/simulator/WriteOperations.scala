package sparkkinesis.simulator

import java.time.Instant

import sparkkinesis.client.PutResult
import sparkkinesis.model.{HashKey, PutEntry, StreamArn}

/** An entry with an empty partition key has none, which streams with `AUTO` distribution take. */
final case class PutRecord(stream: StreamArn, entry: PutEntry)
    extends Changing[PutAnswer[PutResult.Written]] {
  override def change(
      state: State,
      now: Instant
  ): Either[Failure, (State, PutAnswer[PutResult.Written])] =
    for {
      found <- state.serving(stream, now)
      _ <- Check.entry(entry, found.config)
      (next, written) = Write.append(found, entry, now)
    } yield (state.updated(next), Write.answer(found, written, now))
}

/** @param entries as of `PutRecord`: 1 to 500, at most 10 MiB with their partition keys */
final case class PutRecords(stream: StreamArn, entries: Seq[PutEntry])
    extends Changing[PutAnswer[Seq[PutResult]]] {
  override def change(
      state: State,
      now: Instant
  ): Either[Failure, (State, PutAnswer[Seq[PutResult]])] =
    for {
      found <- state.serving(stream, now)
      _ <- Check.entries(entries, found.config)
    } yield {
      val results = Vector.newBuilder[PutResult]
      val next = entries.foldLeft(found) { (stream, entry) =>
        val (appended, written) = Write.append(stream, entry, now)
        results += written
        appended
      }
      (state.updated(next), Write.answer(found, results.result(), now))
    }
}

/** @param encryptionType of what was written: `KMS`, or none */
final case class PutAnswer[+A](result: A, encryptionType: Option[String])

private[simulator] object Write {
  def append(
      stream: StreamState,
      entry: PutEntry,
      now: Instant
  ): (StreamState, PutResult.Written) = {
    val (next, owner) = stream.config.distribution match {
      case RecordDistribution.UserPartitionKey =>
        (stream, stream.owner(entry.explicitHashKey.getOrElse(HashKey.of(entry.partitionKey))))
      case RecordDistribution.Auto => stream.distribute
    }
    val encryption = stream.config.encryption.ofRecords(now)
    val appended = owner.trimmed(stream.horizonMillis(now)).append(entry, encryption, now)
    val number = appended.records.sequenceNumber(owner.end)
    (next.updated(appended), PutResult.Written(owner.id, number))
  }

  def answer[A](stream: StreamState, result: A, now: Instant): PutAnswer[A] =
    PutAnswer(result, stream.config.encryption.ofRecords(now))
}
