package sparkkinesis.simulator.operation

import java.time.Instant

import sparkkinesis.model.{ShardId, StreamArn}
import sparkkinesis.simulator.state.{ConsumerArn, ConsumerRef, Failure, State}

/**
 * One service call as a pure function: its arguments and what it makes of a state.
 *
 * @tparam A the answer
 */
sealed trait Operation[+A] extends Product with Serializable {

  /** As the service calls it. */
  def name: String = productPrefix

  /** What it is about: the stream and the first shard among its arguments. */
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

/** The stream and the shard a call is about, as far as its arguments tell. */
final case class Subject(stream: Option[StreamArn], shard: Option[ShardId])

/** What an operation leaves behind and what it answers. */
final case class Outcome[+A](state: State, answer: Either[Failure, A])

private[simulator] object Outcome {
  def of[A](before: State, changed: Either[Failure, (State, A)]): Outcome[A] = changed match {
    case Right((next, answer)) => Outcome(next, Right(answer))
    case Left(failure) => Outcome(before, Left(failure))
  }
}

/** An operation that leaves the state as it is. */
trait ReadOnly[+A] extends Operation[A] {
  def answer(state: State, now: Instant): Either[Failure, A]

  final override def run(state: State, now: Instant): Outcome[A] =
    Outcome(state, answer(state, now))
}

/** An operation that changes the state, or leaves it as it is and fails. */
trait Changing[+A] extends Operation[A] {
  def change(state: State, now: Instant): Either[Failure, (State, A)]

  /** With a change goes what its time has made worthless. */
  final override def run(state: State, now: Instant): Outcome[A] =
    Outcome.of(state, change(state.swept(now), now))
}

/** An operation that writes records, each of which the shard it goes to may turn away. */
trait Writing[+A] extends Changing[A] {
  def change(state: State, now: Instant, admission: Admission): Either[Failure, (State, A)]

  final override def change(state: State, now: Instant): Either[Failure, (State, A)] =
    change(state, now, Admission.All)
}
