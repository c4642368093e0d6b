package sparkkinesis.simulator.operation

import java.time.Instant

import sparkkinesis.client.{PutResult, StreamStatus}
import sparkkinesis.model.{PutEntry, RecordDistribution, StreamArn}
import sparkkinesis.simulator.state._

/**
 * Writes one record. An empty partition key means no key, which a stream with `AUTO` distribution
 * accepts.
 */
final case class PutRecord(stream: StreamArn, entry: PutEntry)
    extends Writing[PutAnswer[PutResult.Written]] {
  override def change(
      state: State,
      now: Instant,
      admission: Admission
  ): Either[Failure, (State, PutAnswer[PutResult.Written])] =
    for {
      found <- state.serving(stream, now)
      _ <- Check.entry(entry, found.config)
      (routed, owner) = Write.route(found, entry)
      _ <- admission
        .refusal(stream, owner.id, entry)
        .map(Failure.Refused(ErrorCode.ThroughputExceeded, _))
        .toLeft(())
      (next, written) = Write.append(routed, owner, entry, now, state.settings.behaviour)
    } yield (Write.loaded(state, next, 1, now), Write.answer(found, written, now))
}

/** @param entries 1 to 500 entries as in `PutRecord`, at most 10 MiB with their partition keys */
final case class PutRecords(stream: StreamArn, entries: Seq[PutEntry])
    extends Writing[PutAnswer[Seq[PutResult]]] {
  override def change(
      state: State,
      now: Instant,
      admission: Admission
  ): Either[Failure, (State, PutAnswer[Seq[PutResult]])] =
    for {
      found <- state.serving(stream, now)
      _ <- Check.entries(entries, found.config)
    } yield {
      val results = Vector.newBuilder[PutResult]
      val next = entries.foldLeft(found) { (sofar, entry) =>
        val (appended, result) = put(sofar, entry, now, admission, state.settings.behaviour)
        results += result
        appended
      }
      val answers = results.result()
      val written = answers.count(_.isInstanceOf[PutResult.Written])
      (Write.loaded(state, next, written, now), Write.answer(found, answers, now))
    }

  private def put(
      found: StreamState,
      entry: PutEntry,
      now: Instant,
      admission: Admission,
      behaviour: Behaviour
  ): (StreamState, PutResult) = {
    val (routed, owner) = Write.route(found, entry)
    admission.refusal(stream, owner.id, entry) match {
      // Without written records the state stays the same, including the next shard of `AUTO`.
      case Some(message) =>
        (found, PutResult.Failed(ErrorCode.ThroughputExceeded.name, message))
      case None => Write.append(routed, owner, entry, now, behaviour)
    }
  }
}

/** @param encryptionType encryption of the written records: `KMS`, or none */
final case class PutAnswer[+A](result: A, encryptionType: Option[String])

private[simulator] object Write {

  /** The shard that receives the record. */
  def route(stream: StreamState, entry: PutEntry): (StreamState, ShardState) =
    stream.config.distribution match {
      case RecordDistribution.UserPartitionKey =>
        (stream, stream.owner(entry.hashKey))
      case RecordDistribution.Auto => stream.distribute
    }

  def append(
      stream: StreamState,
      owner: ShardState,
      entry: PutEntry,
      now: Instant,
      behaviour: Behaviour
  ): (StreamState, PutResult.Written) = {
    val encryption = stream.config.encryption.ofRecords(now)
    val appended =
      owner.trimmed(stream.horizonMillis(now)).append(entry, encryption, now, behaviour)
    val number = appended.records.sequenceNumber(owner.end)
    (stream.updated(appended), PutResult.Written(owner.id, number))
  }

  /** The state with the stream, which may begin to scale because it received records. */
  def loaded(state: State, stream: StreamState, records: Int, now: Instant): State = {
    val most = state.settings.behaviour.onDemandScaling
    if (most == 0 || stream.config.mode != StreamMode.OnDemand) state.updated(stream)
    else {
      val second = now.getEpochSecond
      val before = if (stream.load.second == second) stream.load.records else 0
      val counted = stream.copy(load = Load(second, before + records))
      val isFull = counted.load.records > most.toLong * stream.open.size
      if (isFull && stream.status(now) == StreamStatus.Active)
        state.scaled(counted, stream.open.size * 2, now)
      else state.updated(counted)
    }
  }

  def answer[A](stream: StreamState, result: A, now: Instant): PutAnswer[A] =
    PutAnswer(result, stream.config.encryption.ofRecords(now))
}
