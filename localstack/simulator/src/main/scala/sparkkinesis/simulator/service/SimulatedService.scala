package sparkkinesis.simulator.service

import java.time.Instant

import sparkkinesis.client.{Clock, PutResult}
import sparkkinesis.simulator.fanout.{NextEvent, ShardWatch, Turn}
import sparkkinesis.simulator.fault.{Fault, Faults}
import sparkkinesis.simulator.operation._
import sparkkinesis.simulator.quota.QuotaBook
import sparkkinesis.simulator.state.{Failure, State}

/**
 * The state over time: runs operations one after the other, and faults with them.
 *
 * Reads take the state as it is and wait for nobody: many readers share one service. With quotas
 * they meet for a moment at the meter of their shard.
 */
private[simulator] final class SimulatedService(
    clock: Clock,
    faults: Faults,
    journal: Journal,
    initial: State
) {
  @volatile private var state: State = initial
  val statistics = new CallStatistics
  private val quotas = Option.when(initial.settings.quotas)(new QuotaBook)

  /** Who is told of changes. */
  val watch = new ShardWatch

  def run[A](operation: Operation[A]): Reply[A] = {
    val reply = faults(operation).filter(_.fits(operation)) match {
      case None => Reply(perform(operation))
      case Some(Fault.ConnectionReset) =>
        Reply(Left(Failure.NoAnswer), Some(Fault.ConnectionReset))
      case Some(fault: Fault.OfConnection) => Reply(perform(operation), Some(fault))
      case Some(refusal: Fault.Refusal) =>
        Reply(refused(refusal))
      case Some(fault) => Reply(faulty(operation, fault))
    }
    statistics.count(operation, reply.answer)
    reply
  }

  /** Past faults and quotas: what is there before the first call. */
  def prepare[A](operation: Operation[A]): Either[Failure, A] = operation match {
    case reading: ReadOnly[A] => reading.answer(state, clock.now)
    case changing: Changing[A] =>
      synchronized {
        val now = clock.now
        kept(changing, changing.run(state, now), now)
      }
  }

  /** Faults strike the event that is about to be sent. */
  def nextEvent(operation: NextEvent): Either[Failure, Turn] =
    operation.answer(state, clock.now) match {
      case Right(send: Turn.Send) =>
        faults(operation) match {
          case Some(Fault.SubscriptionDropped) => Left(Failure.NoAnswer)
          case Some(Fault.ServiceFailure) => refused(Fault.ServiceFailure)
          case fault =>
            statistics.read(send.event.records)
            if (fault.contains(Fault.EventTruncated)) Right(Turn.SendPart(send.event))
            else Right(send)
        }
      case other => other
    }

  private def perform[A](operation: Operation[A]): Either[Failure, A] = operation match {
    case reading: ReadOnly[A] => limited(reading, clock.now).answer
    case changing: Changing[A] =>
      synchronized {
        val now = clock.now
        kept(changing, limited(changing, now), now)
      }
  }

  /** The state changes once the change is kept. */
  private def kept[A](
      operation: Changing[A],
      outcome: Outcome[A],
      now: Instant
  ): Either[Failure, A] = {
    outcome.answer.foreach(journal.keep(operation, _, now))
    val before = state
    state = outcome.state
    watch.changed(before, state)
    outcome.answer
  }

  private def limited[A](operation: Operation[A], now: Instant): Outcome[A] =
    quotas.fold(operation.run(state, now))(_.run(operation, state, now))

  private def refused(refusal: Fault.Refusal): Left[Failure, Nothing] =
    Left(Failure.Refused(refusal.code, s"Injected: ${refusal.name}."))

  /** The casts hold: each answer is of its operation's own type. */
  private def faulty[A](operation: Operation[A], fault: Fault): Either[Failure, A] =
    ((operation, fault) match {
      case (read: GetRecords, Fault.EmptyPage) => perform(EmptyGetRecords(read))
      case (put: PutRecords, Fault.PartialPut(failing)) =>
        perform(PartialPutRecords(put, failing(put.entries.size)))
      case (put: PutRecord, Fault.WrongShard) =>
        perform(put).map(answer => answer.copy(result = WrongShard.misnamed(answer.result)))
      case (put: PutRecords, Fault.WrongShard) =>
        perform(put).map(it => it.copy(result = it.result.map(WrongShard.misnamed(_: PutResult))))
      case (_, Fault.StreamRecreated) =>
        // Nothing comes between the new stream and the call that finds it.
        synchronized {
          operation.subject.stream.foreach(stream => perform(RecreateStream(stream)))
          perform(operation)
        }
      case _ => perform(operation)
    }).asInstanceOf[Either[Failure, A]]
}
