package sparkkinesis.shard.feed

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.client.{KinesisException, Moment, Page, ShardIterator}
import sparkkinesis.model.{Position, ShardId}
import sparkkinesis.shard.pace.{ReadCall, ReadPace}
import sparkkinesis.shard.{FetchMemory, ReadSettings, StreamClient}

/** The pages of a shard by `GetRecords`, at the pace of the shard's quota. */
private[feed] final class PolledPages(
    stream: StreamClient,
    shard: ShardId,
    arrival: FetchMemory#Arrival,
    settings: ReadSettings,
    counts: FeedCounts
) extends PageFeed {
  import ReadStep._
  import stream.{client, ref}

  private var iterator = Option.empty[ShardIterator]
  private var lastDataAt = Option.empty[Instant]
  private var tip = new SilentTip
  private var following = Option.empty[ShardIterator] // after the page that has arrived

  override def isPushed: Boolean = false

  override def readiness(at: Moment): Readiness =
    pace(at).pause(at.steady.toEpochMilli).fold[Readiness](NeedsRoom)(Paced)

  /** Gets the iterator first: a failure to get one uses nothing of the quota. */
  override def next(position: Position, at: Moment): Either[NotYet, (Page, Moment)] = {
    val current = iterator.getOrElse(client.shardIterator(ref, shard, position))
    iterator = Some(current)
    pace(at).next(at.steady.toEpochMilli) match {
      case Left(wait) => Left(Paced(wait))
      case Right(call) => called(call, current, at)
    }
  }

  private def called(call: ReadCall, from: ShardIterator, at: Moment) =
    arrival.receive(getRecords(call, from, at)) match {
      case Right(page) =>
        following = page.next
        Right(tip.judge(page, at.steady.toEpochMilli) -> at)
      case Left(bytes) =>
        pace(at).unread(call, bytes, at.steady.toEpochMilli)
        Left(TooLarge(bytes))
    }

  private def getRecords(call: ReadCall, from: ShardIterator, at: Moment): Page = {
    val now = at.steady.toEpochMilli
    val limit = pace(at).limit(call, math.min(settings.maxRecords, arrival.mostRecords))
    try {
      val page = counts.timed(client.getRecords(ref, from, limit))
      if (page.isFallback) counts.fallback()
      pace(at).answered(call, page, now)
      page
    } catch {
      case failure: KinesisException =>
        pace(at).failed(call, failure, now)
        failure match {
          case _: KinesisException.IteratorExpired => iterator = None
          case _ =>
        }
        throw failure
    }
  }

  override def took(): Unit = iterator = following

  override def release(): Unit = arrival.close()

  /** Behind the tip, the next call follows as soon as the service allows. */
  override def pauseAfter(page: Page, now: Instant): FiniteDuration = {
    if (page.records.nonEmpty) lastDataAt = Some(now)
    if (!page.isAtTip) settings.minPeriod
    else {
      val since = lastDataAt.getOrElse(now)
      lastDataAt = Some(since)
      settings.pause((now.toEpochMilli - since.toEpochMilli).millis)
    }
  }

  override def keepsRoom: Boolean = false

  override def restart(): Unit = {
    iterator = None
    following = None
    tip = new SilentTip
  }

  override def close(): Unit = ()

  private def pace(at: Moment): ReadPace = stream.shared.pace(shard, at.steady.toEpochMilli)
}
