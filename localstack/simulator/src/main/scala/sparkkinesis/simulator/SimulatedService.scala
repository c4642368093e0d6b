package sparkkinesis.simulator

import java.time.Instant

import sparkkinesis.client.{Clock, Page, PutResult}

/**
 * The state over time: runs operations one after the other, and faults with them.
 *
 * Reads take the state as it is and wait for nobody: many readers share one service.
 */
private[simulator] final class SimulatedService(
    clock: Clock,
    settings: Settings,
    faults: Faults,
    journal: Journal
) {
  @volatile private var state: State = journal.restored(settings)

  def run[A](operation: Operation[A]): Either[Failure, A] = faults(operation) match {
    case None => perform(operation)
    case Some(Fault.Unreachable) => Left(Failure.NoAnswer)
    case Some(Fault.AnswerLost) =>
      perform(operation)
      Left(Failure.NoAnswer)
    case Some(Fault.Throttled) =>
      refused(ErrorCode.ThroughputExceeded, "Rate exceeded (injected).")
    case Some(Fault.ServiceFailure) => refused(ErrorCode.InternalFailure, "Injected failure.")
    case Some(Fault.AccessDenied) => refused(ErrorCode.AccessDenied, "Not allowed (injected).")
    case Some(fault) => fitted(operation, fault)
  }

  private def perform[A](operation: Operation[A]): Either[Failure, A] = operation match {
    case reading: ReadOnly[A] => reading.answer(state, clock.now)
    case changing: Changing[A] =>
      synchronized {
        val now = clock.now
        val outcome = changing.run(state, now)
        outcome.answer.foreach(journal.keep(changing, _, now))
        state = outcome.state
        outcome.answer
      }
  }

  private def fitted[A](operation: Operation[A], fault: Fault): Either[Failure, A] =
    (operation, fault) match {
      case (_: GetRecords, Fault.IteratorExpired) =>
        refused(ErrorCode.ExpiredIterator, "The iterator expired (injected).")
      case (read: GetRecords, Fault.EmptyPage) =>
        perform(EmptyGetRecords(read)).asInstanceOf[Either[Failure, A]]
      case (put: PutRecords, Fault.PartialPut(fails)) =>
        perform(PartialPutRecords(put, fails)).asInstanceOf[Either[Failure, A]]
      case _ => perform(operation)
    }

  private def refused(code: ErrorCode, message: String): Left[Failure, Nothing] =
    Left(Failure.Refused(code, message))
}

/** The operation, though its answer holds nothing and points to where it began. */
private[simulator] final case class EmptyGetRecords(read: GetRecords) extends ReadOnly[Page] {
  override def answer(state: State, now: Instant): Either[Failure, Page] =
    read.answer(state, now).map { page =>
      val behind = math.max(page.millisBehindLatest, 1L)
      Page(Vector.empty, Some(read.iterator), behind, Nil)
    }
}

/** The operation for the entries that do not fail. */
private[simulator] final case class PartialPutRecords(put: PutRecords, fails: Int => Boolean)
    extends Changing[PutAnswer[Seq[PutResult]]] {
  private val throttled: PutResult =
    PutResult.Failed(ErrorCode.ThroughputExceeded.name, "Rate exceeded (injected).")

  override def change(
      state: State,
      now: Instant
  ): Either[Failure, (State, PutAnswer[Seq[PutResult]])] = {
    val indexed = put.entries.zipWithIndex
    val written = indexed.collect { case (entry, i) if !fails(i) => entry }
    if (written.isEmpty) Right((state, PutAnswer(put.entries.map(_ => throttled), None)))
    else
      PutRecords(put.stream, written).change(state, now).map { case (next, answer) =>
        val remaining = answer.result.iterator
        val results = put.entries.indices.map(i => if (fails(i)) throttled else remaining.next())
        (next, answer.copy(result = results))
      }
  }
}
