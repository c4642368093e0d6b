package sparkkinesis.simulator.paging

import java.nio.charset.StandardCharsets.UTF_8
import java.time.Instant
import java.util.Base64

import scala.concurrent.duration.FiniteDuration
import scala.util.Try

import sparkkinesis.model.{ServiceLimits, ShardId, StreamArn, StreamName}

/** Tokens: opaque texts with a position and the time of issue. */
private[simulator] object Tokens {

  /** Lifetime of shard iterators and page tokens. */
  val Lifetime: FiniteDuration = ServiceLimits.IteratorLifetime

  def isExpired(issued: Instant, now: Instant): Boolean =
    now.toEpochMilli - issued.toEpochMilli > Lifetime.toMillis

  def encode(kind: String, fields: Any*): String =
    Base64.getEncoder.encodeToString((kind +: fields).mkString("|").getBytes(UTF_8))

  /** Returns the fields, or `None` if the text is no token of this kind. */
  def decode(kind: String, token: String): Option[Seq[String]] =
    Try(new String(Base64.getDecoder.decode(token), UTF_8)).toOption
      .map(_.split('|').toSeq)
      .collect { case head +: fields if head == kind => fields }

  def instant(text: String): Option[Instant] =
    Try(Instant.parse(text)).filter(isNear).toOption

  /** Whether the time can be counted in milliseconds. Callers may send any text. */
  def isNear(time: Instant): Boolean = math.abs(time.getEpochSecond) < LastSecond

  private val LastSecond = 1L << 40
}

/**
 * A position in a shard.
 *
 * @param created creation time of the stream, which differs for a recreated stream
 * @param position position of the next record
 * @param empties number of empty pages that were returned before this record
 */
private[simulator] final case class IteratorToken(
    stream: StreamArn,
    created: Instant,
    shard: ShardId,
    position: Long,
    issued: Instant,
    empties: Int = 0
) {
  def encoded: String =
    Tokens.encode("iterator", stream, created, shard, position, issued, empties)
}

private[simulator] object IteratorToken {
  def parse(token: String): Option[IteratorToken] = Tokens.decode("iterator", token) match {
    case Some(Seq(arn, created, shard, position, issued, empties)) =>
      for {
        stream <- StreamArn.parse(arn)
        made <- Tokens.instant(created)
        at <- position.toLongOption
        time <- Tokens.instant(issued)
        passed <- empties.toIntOption
      } yield IteratorToken(stream, made, ShardId(shard), at, time, passed)
    case _ => None
  }
}

/**
 * A position in a listing of shards.
 *
 * @param last last shard of the previous page
 */
private[simulator] final case class ListToken(
    stream: StreamArn,
    created: Instant,
    filter: ListFilter,
    last: ShardId,
    issued: Instant
) {
  def encoded: String = {
    val (kind, value) = ListToken.text(filter)
    Tokens.encode("shards", stream, created, kind, value, last, issued)
  }
}

private[simulator] object ListToken {
  def parse(token: String): Option[ListToken] = Tokens.decode("shards", token) match {
    case Some(Seq(arn, created, kind, value, last, issued)) =>
      for {
        stream <- StreamArn.parse(arn)
        made <- Tokens.instant(created)
        filter <- filter(kind, value)
        time <- Tokens.instant(issued)
      } yield ListToken(stream, made, filter, ShardId(last), time)
    case _ => None
  }

  private def text(filter: ListFilter): (String, String) = filter match {
    case ListFilter.FromTrimHorizon => ("FROM_TRIM_HORIZON", "-")
    case ListFilter.AtTrimHorizon => ("AT_TRIM_HORIZON", "-")
    case ListFilter.AtLatest => ("AT_LATEST", "-")
    case ListFilter.AfterShardId(id) => ("AFTER_SHARD_ID", id.name)
    case ListFilter.AtTimestamp(instant) => ("AT_TIMESTAMP", instant.toString)
    case ListFilter.FromTimestamp(instant) => ("FROM_TIMESTAMP", instant.toString)
  }

  private def filter(kind: String, value: String): Option[ListFilter] = kind match {
    case "FROM_TRIM_HORIZON" => Some(ListFilter.FromTrimHorizon)
    case "AT_TRIM_HORIZON" => Some(ListFilter.AtTrimHorizon)
    case "AT_LATEST" => Some(ListFilter.AtLatest)
    case "AFTER_SHARD_ID" => Some(ListFilter.AfterShardId(ShardId(value)))
    case "AT_TIMESTAMP" => Tokens.instant(value).map(ListFilter.AtTimestamp(_))
    case "FROM_TIMESTAMP" => Tokens.instant(value).map(ListFilter.FromTimestamp(_))
    case _ => None
  }
}

/**
 * A position in a listing of streams.
 *
 * @param last last stream of the previous page
 */
private[simulator] final case class StreamsToken(
    region: String,
    account: String,
    last: StreamName,
    issued: Instant
) {
  def encoded: String = Tokens.encode("streams", region, account, last, issued)
}

private[simulator] object StreamsToken {
  def parse(token: String): Option[StreamsToken] = Tokens.decode("streams", token) match {
    case Some(Seq(region, account, last, issued)) =>
      for {
        name <- StreamName.parse(last)
        time <- Tokens.instant(issued)
      } yield StreamsToken(region, account, name, time)
    case _ => None
  }
}
