package sparkkinesis.source.feed

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.client.{KinesisException, Moment, Page, ShardIterator}
import sparkkinesis.model.{Position, ShardId}
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.pace.{ReadCall, ReadPace}
import sparkkinesis.source.StreamClient
import sparkkinesis.source.store.Arrivals

/** The pages of a shard by `GetRecords`, at the pace of the shard's quota. */
private[source] final class PolledPages(
    stream: StreamClient,
    shard: ShardId,
    arrivals: Arrivals,
    settings: FetchSettings,
    maxRecords: Int
) extends PageFeed {
  import PageFeed._
  import PolledPages._
  import stream.{client, ref}

  private var iterator = Option.empty[ShardIterator]
  private var lastDataAt = Option.empty[Instant]
  @volatile private var held = Option.empty[Held]
  @volatile private var isClosed = false

  override def isPushed: Boolean = false

  override def readiness(at: Moment): Readiness =
    if (held.nonEmpty) HasNews
    else pace(at).pause(at.steady.toEpochMilli).fold[Readiness](NeedsRoom)(Paced)

  /** Gets the iterator first: a failure to get one uses nothing of the quota. */
  override def next(position: Position, at: Moment): Either[NoPage, (Page, Moment)] =
    held.map(it => Right(it.page -> it.asked)).getOrElse {
      val current = iterator.getOrElse(client.shardIterator(ref, shard, position))
      iterator = Some(current)
      pace(at).next(at.steady.toEpochMilli) match {
        case Left(wait) => Left(Paced(wait))
        case Right(call) => called(call, current, at)
      }
    }

  private def called(call: ReadCall, from: ShardIterator, at: Moment) =
    arrivals.receive(getRecords(call, from, at)) match {
      case Right((page, room)) =>
        held = Some(Held(page, at, room))
        if (isClosed) room.close() // meanwhile
        Right(page -> at)
      case Left(bytes) =>
        pace(at).unread(call, bytes, at.steady.toEpochMilli)
        Left(TooLarge(bytes))
    }

  private def getRecords(call: ReadCall, from: ShardIterator, at: Moment): Page = {
    val now = at.steady.toEpochMilli
    try pace(at).read(call, maxRecords, () => now)(client.getRecords(ref, from, _))
    catch {
      case expired: KinesisException.IteratorExpired =>
        restart()
        throw expired
    }
  }

  override def took(): Unit = {
    held.foreach(it => iterator = it.page.next)
    drop()
  }

  private def drop(): Unit = {
    held.foreach(_.room.close())
    held = None
  }

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
    drop()
    iterator = None
  }

  /** Any thread may call this. */
  override def close(): Unit = {
    isClosed = true
    held.foreach(_.room.close())
  }

  private def pace(at: Moment): ReadPace = stream.shared.paces.of(shard, at.steady.toEpochMilli)
}

private object PolledPages {

  /**
   * A page that has arrived and is not taken.
   *
   * @param room in memory for the response
   */
  private final case class Held(page: Page, asked: Moment, room: AutoCloseable)
}
