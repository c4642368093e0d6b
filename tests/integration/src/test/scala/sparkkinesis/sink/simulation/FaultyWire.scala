package sparkkinesis.sink.simulation

import sparkkinesis.client.{KinesisException, PutResult}
import sparkkinesis.model.{PutEntry, ShardId, ShardMap, StreamRef}
import sparkkinesis.sink.lane.Request
import sparkkinesis.sink.rate.TargetStream

/**
 * The network of one attempt of a task. Requests overtake each other, fail in part or as a whole,
 * get lost before or after they took effect, and time out. Counts what it reports to the writer.
 */
private[simulation] final class FaultyWire(world: SinkWorld, check: SendLaws) extends Wire {
  import FaultyWire._
  import world._

  val reported = new Reported

  override def put(stream: TargetStream, request: Request)(
      answered: Either[KinesisException, Seq[PutResult]] => Unit
  ): Unit = {
    val entries = request.entries
    val rows = entries.map(it => FoundRow.of(it.partitionKey, it.data, it.explicitHashKey))
    check.sent(request, rows)
    reported.requests += 1
    reported.records += entries.size
    val sent = new Sent(stream.ref, request, entries, rows, answered)
    if (fails()) fault(sent) else pass(sent, results => results)
  }

  override def list(stream: TargetStream, stale: ShardMap)(
      answered: Either[KinesisException, ShardMap] => Unit
  ): Unit = agenda.after(latency().toLong) {
    val listed =
      if (fails()) Left(new KinesisException.LimitExceeded("ListShards: injected."))
      else Right(stream.shardsAfter(stale))
    agenda.after(latency().toLong)(answered(listed))
  }

  private def fault(sent: Sent): Unit = random.nextInt(8) match {
    case 0 => refuse(sent, new KinesisException.Throttled(Injected))
    case 1 => refuse(sent, new KinesisException.ServiceFailure(Injected))
    case 2 => refuse(sent, new KinesisException.Unreachable(Injected))
    case 3 => pass(sent, _ => throw new KinesisException.ServiceFailure(Injected))
    case 4 => pass(sent, _ => throw new KinesisException.Unreachable(Injected))
    case 5 => giveUp(sent)
    case 6 => pass(sent, misname(sent, _))
    case _ => part(sent)
  }

  /** The request has no effect. */
  private def refuse(sent: Sent, e: KinesisException): Unit =
    agenda.after(2L * latency())(answer(sent, Left(e), Nil))

  /**
   * The request takes effect. Unless that takes too long, the writer receives the true results,
   * changed by `report`.
   */
  private def pass(
      sent: Sent,
      report: Seq[PutResult] => Seq[PutResult],
      way: Int = latency()
  ): Unit = {
    val (there, back) = (if (setup.isLate) way else math.min(way, setup.patience - 1), latency())
    val isInTime = there + back <= setup.patience
    var mine = Seq.empty[Option[Landed]]
    if (!isInTime)
      agenda.after(setup.patience.toLong)(answer(sent, Left(givenUp), Nil))
    agenda.after(there.toLong) {
      val (results, landed) = perform(sent, isLate = there >= setup.patience)
      mine = landed
      if (isInTime) agenda.after(back.toLong) {
        answer(sent, attempt(report(results)), mine)
      }
    }
  }

  /** The writer receives no answer in time, whether or not the request takes effect. */
  private def giveUp(sent: Sent): Unit = {
    val way = random.nextInt(if (setup.isLate) 3 * setup.patience else setup.patience)
    pass(sent, _ => throw givenUp, way)
  }

  /** Some entries are reported as failed, although they may have been written. */
  private def part(sent: Sent): Unit = {
    val failed = sent.entries.map(_ => Option.when(random.nextBoolean())(aFailure()))
    pass(sent, _.zip(failed).map { case (result, failure) => failure.getOrElse(result) })
  }

  /** Kinesis writes no record that it throttles. */
  private def aFailure() =
    PutResult.Failed(
      if (random.nextBoolean() && !setup.keepsLate) "ProvisionedThroughputExceededException"
      else "InternalFailure",
      Injected
    )

  /**
   * Reports wrong shards for some records in the right shard. Reports for misplaced records stay
   * true.
   */
  private def misname(sent: Sent, results: Seq[PutResult]): Seq[PutResult] =
    results.lazyZip(sent.rows).map {
      case (written: PutResult.Written, rows)
          if random.nextBoolean() && belongs(sent.stream, written.shard, rows) =>
        written.copy(shard = shards(sent.stream).any())
      case (result, _) => result
    }

  private def belongs(stream: StreamRef, shard: ShardId, rows: Vector[FoundRow]) = {
    val range = shards(stream).range(shard)
    rows.size == 1 || rows.forall(it => range.contains(it.hashKey))
  }

  /** Runs a request in the service, with its quotas. */
  private def perform(sent: Sent, isLate: Boolean): (Seq[PutResult], Seq[Option[Landed]]) = {
    reached += 1
    val results = kinesis.putRecords(sent.stream, sent.entries)
    val mine = results.zip(sent.rows).map {
      case (PutResult.Written(shard, number), rows) =>
        Some(new Landed(sent.stream, shard, number, rows, isLate))
      case _ => None
    }
    // Kinesis need not write the records in the order of the request.
    landed ++= mine.flatten.sortBy(_.number)
    (results, mine)
  }

  private def answer(
      sent: Sent,
      outcome: Either[KinesisException, Seq[PutResult]],
      mine: Seq[Option[Landed]]
  ): Unit = {
    reported.count(sent.entries.size, outcome)
    outcome.foreach { results =>
      results.lazyZip(mine).foreach {
        case (PutResult.Written(shard, _), Some(record)) =>
          record.isAcknowledged = !setup.isOrdered || belongs(sent.stream, shard, record.rows)
          if (record.isAcknowledged) check.acknowledged(record) else reported.misplaced += 1
        case _ => ()
      }
    }
    check.answered(sent.request, sent.rows)
    sent.answered(outcome.map(CompactAnswer.sometimes(_, random)))
  }

  private def givenUp = new KinesisException.Unreachable("No answer in time.")
}

private[simulation] object FaultyWire {
  private val Injected = "Injected."

  private final class Sent(
      val stream: StreamRef,
      val request: Request,
      val entries: IndexedSeq[PutEntry],
      val rows: Seq[Vector[FoundRow]],
      val answered: Either[KinesisException, Seq[PutResult]] => Unit
  )

  private def attempt[A](value: => A): Either[KinesisException, A] =
    try Right(value)
    catch { case e: KinesisException => Left(e) }

  /** The counts that the writer must have. */
  final class Reported {
    var requests, records, throttled, failed, failedRequests, unanswered, misplaced = 0L

    def count(size: Int, outcome: Either[KinesisException, Seq[PutResult]]): Unit = outcome match {
      case Right(results) =>
        val codes = results.collect { case PutResult.Failed(code, _) => code }
        throttled += codes.count(_.startsWith("Provisioned"))
        failed += codes.count(!_.startsWith("Provisioned"))
      case Left(e) =>
        failedRequests += 1
        e match {
          case _: KinesisException.Throttled => throttled += size
          case _: KinesisException.Unreachable => unanswered += 1
          case _ => ()
        }
    }
  }
}
