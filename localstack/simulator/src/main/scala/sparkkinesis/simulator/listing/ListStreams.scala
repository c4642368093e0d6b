package sparkkinesis.simulator.listing

import java.time.Instant

import sparkkinesis.model.StreamName
import sparkkinesis.simulator.operation.ReadOnly
import sparkkinesis.simulator.paging.{StreamsToken, Tokens}
import sparkkinesis.simulator.state.{Check, ErrorCode, Failure, State, StreamDetails}

/**
 * @param region region of the caller, as for `account`
 * @param after only names after this one
 * @param limit 1 to 10,000; a response has at most 100 streams
 */
final case class ListStreams(
    region: String,
    account: String,
    after: Option[StreamName],
    limit: Int
) extends ReadOnly[StreamListing] {
  override def answer(state: State, now: Instant): Either[Failure, StreamListing] =
    Check.range("limit", limit, 1, ListStreams.MaxLimit).map { _ =>
      val found = state
        .of(region, account, now)
        .map(_.details(now))
        .filter(s => after.forall(_.name < s.name.name))
        .toVector
        .sortBy(_.name.name)
      val page = found.take(math.min(limit, ListStreams.DefaultLimit))
      val next = page.lastOption
        .filter(_ => found.size > page.size)
        .map(last => StreamsToken(region, account, last.name, now).encoded)
      StreamListing(page, next)
    }
}

object ListStreams {
  val DefaultLimit = 100
  val MaxLimit = 10000
}

/** The page after an earlier one. */
final case class ListMoreStreams(region: String, account: String, token: String, limit: Int)
    extends ReadOnly[StreamListing] {
  override def name: String = "ListStreams"

  override def answer(state: State, now: Instant): Either[Failure, StreamListing] =
    for {
      place <- StreamsToken
        .parse(token)
        .filter(place => place.region == region && place.account == account)
        .toRight(Failure.invalid("NextToken is not one of ours."))
      _ <- Check.that(!Tokens.isExpired(place.issued, now))(
        Failure.Refused(ErrorCode.ExpiredNextToken, s"NextToken is older than ${Tokens.Lifetime}.")
      )
      page <- ListStreams(region, account, Some(place.last), limit).answer(state, now)
    } yield page
}

/**
 * Streams by name.
 *
 * @param nextToken token of the next page, if there is one
 */
final case class StreamListing(streams: Seq[StreamDetails], nextToken: Option[String])
