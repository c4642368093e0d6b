package sparkkinesis.simulator.operation

import java.time.Instant

import sparkkinesis.client.ConsumerRef
import sparkkinesis.model.{ConsumerArn, ShardId, StreamArn}
import sparkkinesis.simulator.state.{Failure, State}

/**
 * One service call as a pure function of its arguments, a state and a time.
 *
 * @tparam A the result
 */
sealed trait Operation[+A] extends Product with Serializable {

  /** The service's name of the operation. */
  def name: String = productPrefix

  /** The first stream and the first shard among the arguments. */
  def subject: Subject = Subject(
    productIterator.collectFirst {
      case stream: StreamArn => stream
      case consumer: ConsumerArn => consumer.stream
      case consumer: ConsumerRef => consumer.stream
    },
    productIterator.collectFirst { case shard: ShardId => shard }
  )

  /** @param now the time of the call; never before that of an earlier call */
  def run(state: State, now: Instant): Outcome[A]
}

/** The stream and the shard that a call names, if any. */
final case class Subject(stream: Option[StreamArn], shard: Option[ShardId])

/** The next state, and the result of the operation. */
final case class Outcome[+A](state: State, answer: Either[Failure, A])

private[simulator] object Outcome {
  def of[A](before: State, changed: Either[Failure, (State, A)]): Outcome[A] = changed match {
    case Right((next, answer)) => Outcome(next, Right(answer))
    case Left(failure) => Outcome(before, Left(failure))
  }
}

/** An operation that does not change the state. */
trait ReadOnly[+A] extends Operation[A] {
  def answer(state: State, now: Instant): Either[Failure, A]

  final override def run(state: State, now: Instant): Outcome[A] =
    Outcome(state, answer(state, now))
}

/** An operation that changes the state, or fails and does not change it. */
trait Changing[+A] extends Operation[A] {
  def change(state: State, now: Instant): Either[Failure, (State, A)]

  /** Also makes the planned reshards and removes what has expired, at the time of the change. */
  final override def run(state: State, now: Instant): Outcome[A] =
    Outcome.of(state, change(state.resharded(now).swept(now), now))
}

/** An operation that writes records, each of which its shard may refuse. */
trait Writing[+A] extends Changing[A] {
  def change(state: State, now: Instant, admission: Admission): Either[Failure, (State, A)]

  final override def change(state: State, now: Instant): Either[Failure, (State, A)] =
    change(state, now, Admission.All)
}
