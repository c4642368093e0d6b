package sparkkinesis.simulator.service

import java.time.Instant

import scala.util.Random

import sparkkinesis.client.{Clock, PutResult}
import sparkkinesis.simulator.fanout.{NextEvent, ShardWatchers, SubscriptionStep}
import sparkkinesis.simulator.fault.{Fault, Faults}
import sparkkinesis.simulator.operation._
import sparkkinesis.simulator.quota.QuotaMeters
import sparkkinesis.simulator.state.{Failure, State}

/**
 * Runs operations on the state, one change at a time, and applies faults and quotas.
 *
 * Reads use the current state and take no lock, so that many readers share one service. With quotas
 * they briefly lock the meter of their shard.
 */
private[simulator] final class SimulatedService(
    clock: Clock,
    faults: Faults,
    journal: Journal,
    initial: State
) {
  @volatile private var state: State = initial
  val statistics = new CallStatistics
  private val quotas =
    Option.when(initial.settings.quotas)(new QuotaMeters(initial.settings.writeQuota))

  private val behaviour = initial.settings.behaviour
  private val random = new Random(behaviour.seed)

  /** Subscriptions that wait for changes. */
  val watchers = new ShardWatchers

  def run[A](operation: Operation[A]): Reply[A] = {
    val reply = faults(operation).filter(_.fits(operation)) match {
      case None => Reply(unforced(operation))
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

  /** Runs an operation without faults and quotas, to set up the service before the first call. */
  def prepare[A](operation: Operation[A]): Either[Failure, A] = operation match {
    case reading: ReadOnly[A] =>
      val now = clock.now
      reading.answer(current(now), now)
    case changing: Changing[A] =>
      synchronized {
        val now = clock.now
        applied(changing, changing.run(state, now), now)
      }
  }

  /** Returns the next step of a subscription. Faults strike the event that is about to be sent. */
  def nextEvent(operation: NextEvent): Either[Failure, SubscriptionStep] = {
    val now = clock.now
    operation.answer(current(now), now) match {
      case Right(send: SubscriptionStep.Send) =>
        faults(operation) match {
          case Some(Fault.SubscriptionDropped) => Left(Failure.NoAnswer)
          case Some(Fault.ServiceFailure) => refused(Fault.ServiceFailure)
          case fault =>
            statistics.read(send.event.records)
            if (fault.contains(Fault.EventTruncated)) Right(SubscriptionStep.SendPart(send.event))
            else Right(send)
        }
      case other => other
    }
  }

  /** The state after the planned reshards. */
  private def current(now: Instant): State =
    if (now.isBefore(state.nextReshard)) state
    else
      synchronized {
        replace(state.resharded(now))
        state
      }

  private def perform[A](operation: Operation[A]): Either[Failure, A] = operation match {
    case reading: ReadOnly[A] =>
      val now = clock.now
      limited(reading, current(now), now).answer
    case changing: Changing[A] =>
      synchronized {
        val now = clock.now
        applied(changing, limited(changing, state, now), now)
      }
  }

  /** Changes the state after the journal has stored the change. */
  private def applied[A](
      operation: Changing[A],
      outcome: Outcome[A],
      now: Instant
  ): Either[Failure, A] = {
    outcome.answer.foreach(journal.append(operation, _, now))
    replace(outcome.state)
    outcome.answer
  }

  private def replace(next: State): Unit = {
    val before = state
    state = next
    watchers.changed(before, next)
  }

  private def limited[A](operation: Operation[A], state: State, now: Instant): Outcome[A] =
    quotas.fold(operation.run(state, now))(_.run(operation, state, now))

  /** Performs a call that no fault strikes. The cast is safe, as below. */
  private def unforced[A](operation: Operation[A]): Either[Failure, A] = operation match {
    case put: PutRecords if behaviour.failedEntries > 0 || behaviour.shuffledPuts > 0 =>
      val chosen = synchronized(PartialPutRecords.byChance(put, behaviour, random))
      perform(chosen).asInstanceOf[Either[Failure, A]]
    case other => perform(other)
  }

  private def refused(refusal: Fault.Refusal): Left[Failure, Nothing] =
    Left(Failure.Refused(refusal.code, s"Injected: ${refusal.name}."))

  /** The casts are safe, because each result has the type of its operation. */
  private def faulty[A](operation: Operation[A], fault: Fault): Either[Failure, A] =
    ((operation, fault) match {
      case (read: GetRecords, Fault.EmptyPage) => perform(EmptyGetRecords(read))
      case (put: PutRecords, Fault.PartialPut(failing)) =>
        perform(PartialPutRecords.throttled(put, failing(put.entries.size)))
      case (put: PutRecord, Fault.WrongShard) =>
        perform(put).map(answer => answer.copy(result = WrongShard.misnamed(answer.result)))
      case (put: PutRecords, Fault.WrongShard) =>
        perform(put).map(it => it.copy(result = it.result.map(WrongShard.misnamed(_: PutResult))))
      case (_, Fault.StreamRecreated) =>
        // No other call may come between the new stream and the call that finds it.
        synchronized {
          operation.subject.stream.foreach(stream => perform(RecreateStream(stream)))
          perform(operation)
        }
      case _ => perform(operation)
    }).asInstanceOf[Either[Failure, A]]
}
