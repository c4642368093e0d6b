package sparkkinesis.sink.simulation.once

import sparkkinesis.client.{KinesisException, PutResult}
import sparkkinesis.model.{PutEntry, ShardMap}
import sparkkinesis.sink.lane.Request
import sparkkinesis.sink.once.{Hash128, OnceSender, ShardInDoubt}
import sparkkinesis.sink.rate.TargetStream
import sparkkinesis.sink.simulation.{CompactAnswer, Wire}

/**
 * The network of one task attempt. Requests fail in part or as a whole, get lost before or after
 * they took effect, and take effect long after their writer gave them up. A record that was
 * throttled has no effect; one that failed otherwise may have.
 */
private[once] final class OnceWire(
    world: OnceWorld,
    sender: OnceSender,
    askForRecovery: (Seq[ShardInDoubt], Set[Hash128] => Unit) => Unit
) extends Wire {
  import OnceWire._
  import world._

  override def put(stream: TargetStream, request: Request)(
      answered: Either[KinesisException, Seq[PutResult]] => Unit
  ): Unit = {
    val pause = if (fails()) random.nextInt(2 * terms.start.toMillis.toInt) else 0
    agenda.after(pause.toLong) {
      if (sender.mayLeave(request.sentAt, agenda.now)) leave(request.entries, answered)
      else {
        features += "too late to leave"
        answered(Left(new KinesisException.Throttled(Injected)))
      }
    }
  }

  private def leave(entries: IndexedSeq[PutEntry], answered: Answer): Unit =
    if (!fails()) perform(entries, latency(), latency(), identity, answered)
    else
      random.nextInt(7) match {
        case 0 => agenda.after(latency())(answered(Left(new KinesisException.Throttled(Injected))))
        case 1 => lost(answered)
        case 2 =>
          features += "effect without answer"
          perform(entries, latency(), latency(), _ => throw failure(), answered)
        case 3 | 4 => late(entries, answered)
        case 5 =>
          val report = (results: Seq[PutResult]) =>
            results.zip(entries).map {
              case (it: PutResult.Written, entry) if random.nextBoolean() => misnamed(it, entry)
              case (it, _) => it
            }
          perform(entries, latency(), latency(), report, answered)
        case _ => inPart(entries, answered)
      }

  /**
   * Names a shard in which the record cannot be. A number says in which shard its record is, so a
   * shard that may be the one of the writer's lane would contradict it.
   */
  private def misnamed(written: PutResult.Written, entry: PutEntry) = {
    val other = anyShard()
    if (shards.range(other).contains(entry.hashKey)) written else written.copy(shard = other)
  }

  private def failure() =
    if (random.nextBoolean()) new KinesisException.ServiceFailure(Injected)
    else new KinesisException.Unreachable(Injected)

  private def lost(answered: Answer): Unit =
    agenda.after(patience.toLong)(answered(Left(new KinesisException.Unreachable(Injected))))

  /** The request takes effect after its writer has given it up, just within the bound. */
  private def late(entries: IndexedSeq[PutEntry], answered: Answer): Unit = {
    features += "late effect"
    val longest = (terms.acceptance - terms.start).toMillis.toInt
    val way = patience + random.nextInt(longest - patience)
    agenda.after(way.toLong)(land(entries))
    lost(answered)
  }

  private def perform(
      entries: IndexedSeq[PutEntry],
      there: Long,
      back: Long,
      report: Seq[PutResult] => Seq[PutResult],
      answered: Answer
  ): Unit =
    if (there + back >= patience) late(entries, answered)
    else
      agenda.after(there) {
        val results = land(entries)
        agenda.after(back) {
          val answer =
            try Right(report(results))
            catch { case e: KinesisException => Left(e) }
          answered(answer.map(CompactAnswer.sometimes(_, random)))
        }
      }

  /** Some records are throttled, some fail with or without effect. */
  private def inPart(entries: IndexedSeq[PutEntry], answered: Answer): Unit = {
    features += "failed records"
    agenda.after(latency()) {
      val results = entries.map { entry =>
        random.nextInt(4) match {
          case 0 => PutResult.Failed("ProvisionedThroughputExceededException", Injected)
          case 1 => PutResult.Failed("InternalFailure", Injected)
          case 2 =>
            land(Vector(entry))
            PutResult.Failed("InternalFailure", Injected)
          case _ => land(Vector(entry)).head
        }
      }
      agenda.after(latency())(answered(Right(results)))
    }
  }

  private def land(entries: IndexedSeq[PutEntry]): Seq[PutResult] = {
    val results = kinesis.putRecords(stream, entries)
    val written =
      results.zip(entries).collect { case (it: PutResult.Written, entry) => it -> entry }
    landed ++= written.sortBy(_._1.sequenceNumber).map { case (it, entry) => it.shard -> entry }
    results
  }

  override def list(target: TargetStream, stale: ShardMap)(
      answered: Either[KinesisException, ShardMap] => Unit
  ): Unit = agenda.after(latency()) {
    val listed =
      if (fails()) Left(new KinesisException.LimitExceeded(Injected))
      else
        try Right(target.shardsAfter(stale))
        catch { case e: KinesisException => Left(e) }
    agenda.after(latency())(answered(listed))
  }

  override def recover(shards: Seq[ShardInDoubt])(answered: Set[Hash128] => Unit): Unit = {
    features += "recovery"
    if (shards.exists(_.after.nonEmpty)) features += "recovery after a record"
    askForRecovery(shards, answered)
  }
}

private[once] object OnceWire {
  private[once] type Answer = Either[KinesisException, Seq[PutResult]] => Unit

  private val Injected = "Injected."
}
