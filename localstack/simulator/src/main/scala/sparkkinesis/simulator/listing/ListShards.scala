package sparkkinesis.simulator.listing

import java.time.Instant

import sparkkinesis.model.{ServiceLimits, Shard, ShardId, StreamArn}
import sparkkinesis.simulator.operation.{ReadOnly, Subject}
import sparkkinesis.simulator.paging.{ListFilter, ListToken, Tokens}
import sparkkinesis.simulator.state.{Check, ErrorCode, Failure, State}

/**
 * @param after only shards after this one
 * @param limit 1 to 10,000; a response has at most 1,000 shards
 */
final case class ListShards(
    stream: StreamArn,
    filter: ListFilter,
    after: Option[ShardId],
    limit: Int
) extends ReadOnly[ListShardsPage] {
  override def answer(state: State, now: Instant): Either[Failure, ListShardsPage] =
    for {
      _ <- Check.range("maxResults", limit, 1, ListShards.MaxLimit)
      found <- state.listable(stream, now)
      _ <- ListFilter.check(filter, found, now)
    } yield {
      val shards = found
        .listed(now, state.settings.listLag)
        .filter(shard =>
          ListFilter.includes(filter, found, shard, now) && after.forall(_ < shard.id)
        )
      val count = math.min(limit, state.settings.listShardsCount)
      val page = shards.take(count)
      val next = page.lastOption
        .filter(_ => shards.size > count)
        .map(last => ListToken(stream, found.created, filter, last.id, now).encoded)
      ListShardsPage(page.map(_.shard), next)
    }
}

object ListShards {
  val DefaultLimit: Int = ServiceLimits.ListShardsCount
  val MaxLimit = 10000
}

/** The page after an earlier one, with the same filter. */
final case class ListMoreShards(token: String, limit: Int) extends ReadOnly[ListShardsPage] {
  override def name: String = "ListShards"

  override def subject: Subject = Subject(ListToken.parse(token).map(_.stream), None)

  override def answer(state: State, now: Instant): Either[Failure, ListShardsPage] =
    for {
      place <- ListToken.parse(token).toRight(Failure.invalid("NextToken is not one of ours."))
      _ <- Check.that(!Tokens.isExpired(place.issued, now))(
        Failure.Refused(
          ErrorCode.ExpiredNextToken,
          s"NextToken of stream ${place.stream.name} is older than ${Tokens.Lifetime}."
        )
      )
      found <- state.existing(place.stream, now)
      _ <- Check.that(found.created == place.created)(
        Failure.notFound(s"Stream ${place.stream.name} is not the one that NextToken came from.")
      )
      page <- ListShards(place.stream, place.filter, Some(place.last), limit).answer(state, now)
    } yield page
}

/** @param nextToken token of the next page, if there is one */
final case class ListShardsPage(shards: Seq[Shard], nextToken: Option[String])
