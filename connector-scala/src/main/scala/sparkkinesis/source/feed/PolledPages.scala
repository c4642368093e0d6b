package sparkkinesis.source.feed

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.client.{KinesisException, Moment, Page, ShardIterator}
import sparkkinesis.model.{Position, ShardId}
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.pace.{ReadCall, ReadPace}
import sparkkinesis.source.store.PageStore
import sparkkinesis.source.{SilentTip, StreamClient}

/** The pages of a shard by `GetRecords`, at the pace of the shard's quota. */
private[source] final class PolledPages(
    stream: StreamClient,
    shard: ShardId,
    store: PageStore,
    settings: FetchSettings
) extends PageFeed {
  import PageFeed._
  import stream.{client, ref}

  private val tip = new SilentTip
  private var iterator = Option.empty[ShardIterator]
  private var lastDataAt = Option.empty[Instant]

  override def isPushed: Boolean = false

  override def readiness(at: Moment): Readiness =
    pace(at).pause(at.steady.toEpochMilli).fold[Readiness](NeedsRoom)(Paced)

  /** Gets the iterator first: a failure to get one uses nothing of the quota. */
  override def next[A](position: Position, at: Moment)(
      use: (Page, Moment) => A
  ): Either[NoPage, A] = {
    val current = iterator.getOrElse(client.shardIterator(ref, shard, position))
    iterator = Some(current)
    pace(at).next(at.steady.toEpochMilli) match {
      case Left(wait) => Left(Paced(wait))
      case Right(call) =>
        // The response has room until the store has the page.
        store.receiving(read(call, current, at)(use)).left.map { bytes =>
          pace(at).unread(call, bytes, at.steady.toEpochMilli)
          TooLarge(bytes)
        }
    }
  }

  private def read[A](call: ReadCall, current: ShardIterator, at: Moment)(
      use: (Page, Moment) => A
  ): A = {
    val page = getRecords(call, current, at)
    iterator = page.next
    try use(page, at)
    catch {
      case e: Throwable =>
        iterator = Some(current)
        throw e
    }
  }

  private def getRecords(call: ReadCall, from: ShardIterator, at: Moment): Page = {
    val now = at.steady.toEpochMilli
    try {
      val page =
        pace(at).read(call, settings.pageRecords, () => now)(client.getRecords(ref, from, _))
      tip.judge(page, now)
    } catch {
      case expired: KinesisException.IteratorExpired =>
        restart()
        throw expired
    }
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

  override def restart(): Unit = iterator = None

  override def close(): Unit = ()

  private def pace(at: Moment): ReadPace = stream.shared.paces.of(shard, at.steady.toEpochMilli)
}
