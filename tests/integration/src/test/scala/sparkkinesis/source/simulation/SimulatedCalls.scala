package sparkkinesis.source.simulation

import scala.util.Try

import sparkkinesis.model.StreamArn
import sparkkinesis.source.checkpoint.QueryStream
import sparkkinesis.source.query.{Command, SourceQuery}

/**
 * Carries out what the decisions of a driver want. A call takes effect some time after it was
 * wanted, and its answer comes later still: after those of later calls, or twice.
 *
 * @param spark receives the commands that Spark carries out
 */
final class SimulatedCalls(
    world: World,
    query: SourceQuery,
    streams: Map[StreamArn, QueryStream],
    spark: Command => Unit = _ => ()
) {
  import world._

  private var wanted = Vector.empty[Command]
  private var answers = Vector.empty[() => Unit]

  /** Takes what the last event has left. */
  def take(): Unit = wanted ++= query.commands()

  def work(): Unit = {
    val (begun, rest) = random.shuffle(wanted).partition(_ => isCalm || random.nextBoolean())
    wanted = rest
    answers ++= begun.flatMap(begin)
    val (arrived, late) = random.shuffle(answers).partition(_ => isCalm || random.nextBoolean())
    answers = late ++ arrived.filter(_ => !isCalm && random.nextInt(10) == 0)
    arrived.foreach(_.apply())
    take()
  }

  /** Until no answer is missing. */
  def finish(): Unit = calmly {
    while (wanted.nonEmpty || answers.nonEmpty) work()
  }

  private def begin(command: Command): Option[() => Unit] = command match {
    case Command.Describe(arn) =>
      answer(streams(arn).describe().summary)(query.described(arn, _, clock.moment))
    case Command.List(arn) => answer(streams(arn).list())(query.listed(arn, _, clock.moment))
    case Command.Probe(arn, shards) =>
      answer(streams(arn).areGone(shards))(query.probed(arn, _, clock.moment))
    case Command.Begin(arn) => answer(calmly(streams(arn).firstOffset()))(query.begun(arn, _))
    case Command.Warn(_) => None
    case other =>
      spark(other)
      None
  }

  private def answer[A](call: => A)(event: Try[A] => Unit): Option[() => Unit] = {
    val result = Try(call)
    Some(() => event(result))
  }
}
