package sparkkinesis.simulator.operation

import java.time.Instant

import sparkkinesis.client.{ConsumerRef, ConsumerStatus, ConsumerSummary}
import sparkkinesis.model.{ConsumerArn, StreamArn}
import sparkkinesis.simulator.paging.Tokens
import sparkkinesis.simulator.state._

/** @param consumer name of 1 to 128 characters `a-zA-Z0-9_.-` */
final case class RegisterStreamConsumer(stream: StreamArn, consumer: String)
    extends Changing[ConsumerSummary] {
  override def change(state: State, now: Instant): Either[Failure, (State, ConsumerSummary)] =
    for {
      _ <- Check.that(ConsumerArn.isName(consumer))(
        Failure.validation(
          s"Value '$consumer' at 'consumerName' failed to satisfy constraint: Member must " +
            s"satisfy ${Identifier.Form}"
        )
      )
      found <- state.listable(stream, now)
      others = found.consumers.present(now)
      _ <- Check.that(others.forall(_.arn.name != consumer))(
        State.inUse(stream, s"has a consumer $consumer already")
      )
      _ <- atMost(others.size, state.settings.consumerLimit, "")
      creating = others.count(_.status(now) == ConsumerStatus.Creating)
      _ <- atMost(creating, RegisterStreamConsumer.CreatingLimit, " that are being created")
    } yield {
      val arn = ConsumerArn(stream, consumer, now.getEpochSecond)
      val made = Consumer(arn, now, state.settings.changed(now), None, Map.empty)
      val next = found.copy(consumers = found.consumers.updated(made))
      (state.updated(next), made.summary(now))
    }

  private def atMost(present: Int, limit: Int, which: String): Check.Checked =
    Check.that(present < limit)(
      Failure.Refused(
        ErrorCode.LimitExceeded,
        s"Stream ${stream.name} has $present consumers$which; the limit is $limit."
      )
    )
}

object RegisterStreamConsumer {

  /** Maximum number of consumers of a stream that are `CREATING` at a time (API reference). */
  val CreatingLimit = 5
}

final case class DescribeStreamConsumer(consumer: ConsumerRef) extends ReadOnly[ConsumerSummary] {
  override def answer(state: State, now: Instant): Either[Failure, ConsumerSummary] =
    for {
      stream <- state.existing(consumer.stream, now)
      found <- stream.consumers.find(consumer, now)
    } yield found.summary(now)
}

/**
 * Deletes a consumer, whose subscriptions end then. A second call during the deletion has no
 * effect.
 */
final case class DeregisterStreamConsumer(consumer: ConsumerRef) extends Changing[Unit] {
  override def change(state: State, now: Instant): Either[Failure, (State, Unit)] =
    for {
      stream <- state.existing(consumer.stream, now)
      found <- stream.consumers.find(consumer, now)
    } yield {
      val leaving = found.copy(gone = found.gone.orElse(Some(state.settings.changed(now))))
      (state.updated(stream.copy(consumers = stream.consumers.updated(leaving))), ())
    }
}

/**
 * @param created creation time of the stream, if the caller names it
 * @param token token of an earlier page
 * @param limit 1 to 10,000 consumers
 */
final case class ListStreamConsumers(
    stream: StreamArn,
    created: Option[Instant],
    token: Option[String],
    limit: Int
) extends ReadOnly[ConsumersPage] {
  override def answer(state: State, now: Instant): Either[Failure, ConsumersPage] =
    for {
      _ <- Check.range("maxResults", limit, 1, ListStreamConsumers.MaxLimit)
      found <- state.existing(stream, now)
      _ <- Check.that(created.forall(_.getEpochSecond == found.created.getEpochSecond))(
        Failure.notFound(s"Stream ${stream.name} was not created at ${created.mkString}.")
      )
      after <- token.fold[Either[Failure, Option[String]]](Right(None))(place(_, found, now))
    } yield {
      val rest = found.consumers.present(now).filter(c => after.forall(_ < c.arn.name))
      val page = rest.take(limit)
      val next = page.lastOption.filter(_ => rest.size > limit).map { last =>
        Tokens.encode("consumers", stream, found.created, last.arn.name, now)
      }
      ConsumersPage(page.map(_.summary(now)), next)
    }

  private def place(
      token: String,
      found: StreamState,
      now: Instant
  ): Either[Failure, Option[String]] = Tokens.decode("consumers", token) match {
    case Some(Seq(arn, made, name, issued))
        if arn == stream.toString && made == found.created.toString =>
      Check
        .that(Tokens.instant(issued).exists(!Tokens.isExpired(_, now)))(
          Failure.Refused(
            ErrorCode.ExpiredNextToken,
            s"NextToken of stream ${stream.name} is older than ${Tokens.Lifetime}."
          )
        )
        .map(_ => Some(name))
    case _ => Left(Failure.invalid(s"NextToken is not one of stream ${stream.name}."))
  }
}

object ListStreamConsumers {
  val DefaultLimit = 100
  val MaxLimit = 10000
}

/**
 * Consumers by name.
 *
 * @param nextToken token of the next page, if there is one
 */
final case class ConsumersPage(consumers: Seq[ConsumerSummary], nextToken: Option[String])
