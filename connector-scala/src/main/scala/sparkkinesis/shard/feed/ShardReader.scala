package sparkkinesis.shard.feed

import java.time.Instant

import sparkkinesis.client.{KinesisException, Moment, Page}
import sparkkinesis.compat._
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{ChildShard, PackedRecords, Position, Shard}
import sparkkinesis.shard.{DataLoss, ReadSettings, ServiceTime, StreamClient}

/**
 * Reads one shard from a place to a goal, one page per step, and decides what each answer means.
 * Reading ahead, reading a range again, batch reads and the sink's read-back differ only in their
 * goal and in who drives them. Used by one thread at a time.
 *
 * One answer may be wrong. So a lost record, a missing shard, and an end without children count
 * only if a second answer, from another iterator, confirms them.
 *
 * @param first where the pages come from at first
 * @param chance evenly distributed in `[0, 1)`, for the jitter of retries
 */
private[sparkkinesis] final class ShardReader(
    stream: StreamClient,
    goal: ReadGoal,
    first: PageFeed,
    settings: ReadSettings,
    chance: () => Double
) extends AutoCloseable {
  import ReadStep._
  import ShardReader._
  import stream.{client, ref, shared}

  private val shard = goal.range.shard
  private val losses = new ReadLosses(stream, settings.failOnDataLoss)
  private val retries = new ReadRetries(shard, settings.retryTimeout, chance)
  private val mistakenEnds = new ReadRetries(shard, settings.retryTimeout, chance)
  private val time = new ServiceTime
  @volatile private var place = goal.range.start
  private var completeAsOf = goal.range.completeAsOf
  @volatile private var reached = false
  private var served = Option.empty[Moment]
  private var wasGone = false // whether the last answer was that the shard does not exist
  private var lacked = false // whether a record seemed to be missing, and none has come since
  private var isExcused = false // whether the query goes on although a record is missing
  private var doubtedAt = Option.empty[Progress] // where a page said that the shard has ended
  private var listedSince = Option.empty[Instant] // an older listing may lack the shard
  private var unconfirmed = Option.empty[Page] // the shard's end
  private var early = 0 // records before the place, since the last `takeEarly`
  @volatile private var current = first

  /** Whether there is nothing more to read. */
  def isOver: Boolean = reached || place == Progress.Finished

  /** Whether the goal is reached before the end of the shard. */
  def isReached: Boolean = reached

  /** Whether the next step only confirms the end of the shard. */
  def isEnding: Boolean = unconfirmed.nonEmpty

  /** Whether the next step makes sense, and what it needs. */
  def readiness(at: Moment): Readiness = if (isEnding) HasNews else feed.readiness(at)

  /** Number of losses since the last call that the query tolerates. */
  def takeLosses(): Int = losses.takeCount()

  /**
   * Number of records since the last call that the service sent although they are before the place.
   */
  def takeEarly(): Int = {
    val taken = early
    early = 0
    taken
  }

  /** Where the next page comes from. */
  def feed: PageFeed = current

  /** The next pages come from another feed. */
  def continueWith(other: PageFeed): Unit = {
    current.close()
    current = other
  }

  /** When the last answer was asked for, with the service's time of the answer if it has one. */
  def servedAt: Option[Moment] = served

  /** Reads at most one page. */
  def step(at: Moment): ReadStep[ReadPage] =
    Progress.position(place).filterNot(_ => reached) match {
      case None =>
        close()
        Ended
      case Some(position) =>
        listedSince = listedSince.orElse(Some(at.steady))
        try unconfirmed.fold(read(position, at))(confirm(_, at))
        catch {
          case gone: KinesisException.NotFound =>
            feed.restart()
            try shardIsGone(gone, at)
            catch { case failure: KinesisException => retries.after(failure, place, at.steady) }
          case expired: KinesisException.IteratorExpired => retries.expired(expired)
          case failure: KinesisException => retries.after(failure, place, at.steady)
        }
    }

  private def read(position: Position, at: Moment): ReadStep[ReadPage] =
    feed.next(position, at) match {
      case Right((page, asked)) => received(page, asked, at)
      case Left(notYet) => notYet
    }

  /** @param asked when the page, or the subscription that it comes from, was asked for */
  private def received(sent: Page, asked: Moment, at: Moment): ReadStep[ReadPage] = {
    val page = onwards(sent)
    time.observe(asked.now, page.serverTime)
    served = page.serverTime.map(asked.copy(_)).orElse(served)
    def late =
      if (goal.isTimed(place)) losses.behindRetention(rest, completeAsOf, time.at(at)) else None
    late.orElse(losses.overtaken(page, rest, completeAsOf, time.at(at))) match {
      case Some(loss) => Loses(loss)
      case None =>
        retries.reset()
        wasGone = false
        val reach = goal.reach(page, place, isEnd = false)
        if (page.next.nonEmpty) {
          if (page.records.nonEmpty || page.isAtTip) mistakenEnds.reset()
          judged(Answer(page, reach, None, asked), at)
        } else end(page, reach, asked, at)
    }
  }

  /**
   * A shard that has ended has children. An end without them may be a mistake, so it needs a second
   * answer, from another iterator, and the listing.
   */
  private def end(
      page: Page,
      reach: ReadGoal.Reach,
      asked: Moment,
      at: Moment
  ): ReadStep[ReadPage] =
    if (page.children.nonEmpty) ended(page, page.children, asked, at)
    else if (page.records.isEmpty && doubtedAt.contains(place)) {
      feed.took()
      confirm(page, at)
    } else {
      val step = judged(Answer(page.copy(millisBehindLatest = None), reach, None, asked), at)
      step match {
        case _: Read[_] => doubtedAt = Some(place)
        case _ =>
      }
      feed.restart()
      step
    }

  /**
   * Confirms the end of the shard. If the listing fails, the next step only repeats the listing.
   */
  private def confirm(page: Page, at: Moment): ReadStep[ReadPage] = {
    unconfirmed = Some(page)
    val children = ShardEnd.childrenOfClosed(listedShards(at), shard.shard)
    unconfirmed = None
    children match {
      case Some(found) => ended(page, found, at, at)
      case None =>
        feed.restart()
        mistakenEnds.retry(ShardEnd.mistaken(ref, shard.shard), at.steady)
    }
  }

  private def ended(
      page: Page,
      children: Seq[ChildShard],
      asked: Moment,
      at: Moment
  ): ReadStep[ReadPage] =
    judged(Answer(page, goal.reach(page, place, isEnd = true), Some(children), asked), at)

  /**
   * The page without the records before the place, which some servers send. It is not at the tip if
   * it has no others: the shard may have ended since the service sent them first.
   */
  private def onwards(sent: Page): Page = {
    val records = PackedRecords(sent.records)
    val before = place match {
      case Progress.After(number) => records.countWhile(records.compareNumber(_, number) <= 0)
      case Progress.From(number) => records.countWhile(records.compareNumber(_, number) < 0)
      case Progress.AtTimestamp(start) =>
        records.countWhile(records.arrivalMillis(_) < start.toEpochMilli)
      case Progress.TrimHorizon | Progress.Finished => 0
    }
    if (before == 0) sent
    else {
      early += before
      val behind = if (before == records.size) None else sent.millisBehindLatest
      sent.copy(records = records.slice(before, records.size), millisBehindLatest = behind)
    }
  }

  private def judged(answer: Answer, at: Moment): ReadStep[ReadPage] = {
    val missing = answer.reach.missing.filterNot(_ => isExcused)
    if (missing.nonEmpty && !lacked) {
      lacked = true
      lookAgain()
    } else
      missing.flatMap(losses.lose(_, rest, completeAsOf, time.at(at))) match {
        case Some(loss) => Loses(loss)
        case None =>
          isExcused ||= missing.nonEmpty
          accept(answer, at)
      }
  }

  /** Asks again a little later, with another iterator. */
  private def lookAgain(): ReadStep[ReadPage] = {
    feed.restart()
    Doubts(DataLoss.secondLook(chance()))
  }

  private def accept(answer: Answer, at: Moment): ReadStep[ReadPage] = {
    import answer._
    feed.took()
    val (from, read) = (place, reach.read)
    reached = reach.isReached
    // Not after records: the shard may have ended, and its children may have older records.
    val isTip = page.isAtTip && page.records.isEmpty && children.isEmpty
    val known =
      if (reached) goal.completeAsOf
      else if (isTip) Some(reachedBy(asked))
      else read.lastArrivalMillis.map(Instant.ofEpochMilli)
    completeAsOf = known.orElse(completeAsOf)
    lacked &&= read.isEmpty
    val isEnd = children.nonEmpty && !reached
    place = if (isEnd) Progress.Finished else ReadGoal.lastOf(read).getOrElse(from)
    Read(
      ReadPage(
        reach.wanted,
        from,
        isEnd,
        children.filter(_ => isEnd).getOrElse(Nil),
        if (reached) Some(0) else page.millisBehindLatest,
        known
      ),
      feed.pauseAfter(page, at.steady)
    )
  }

  /**
   * The time, at the tip, before which no unread record has arrived. A subscription may be minutes
   * old, so what was known before may say more.
   */
  private def reachedBy(asked: Moment): Instant =
    (completeAsOf.filter(_ => feed.isPushed) ++ Seq(time.reachedAt(asked.now))).max

  /** The service no longer lists a closed shard after its last record expired, read or not. */
  private def shardIsGone(gone: KinesisException.NotFound, at: Moment): ReadStep[ReadPage] = {
    val listed =
      try listedShards(at)
      catch { case _: KinesisException.NotFound if !wasGone => Nil } // the stream, perhaps
    if (listed.exists(_.id == shard.shard)) {
      wasGone = false
      retries.retry(gone, at.steady)
    } else if (!wasGone) {
      wasGone = true
      listedSince = Some(at.steady) // the last listing is doubtful
      Retries(gone, DataLoss.secondLook(chance()))
    } else
      losses.lose("the shard does not exist any more", rest, completeAsOf, time.at(at)) match {
        case Some(loss) => Loses(loss)
        case None =>
          val children = ShardEnd.childrenIn(listed, shard.shard)
          val reach = ReadGoal.Reach(PackedRecords.Empty, PackedRecords.Empty, isReached = false)
          accept(Answer(ShardEnd.EmptyPage, reach, Some(children), at), at)
      }
  }

  /** All shards of the stream, open and closed. Other readers share the listing. */
  private def listedShards(at: Moment): Seq[Shard] =
    shared.facts.shards(client, ref, listedSince.getOrElse(at.steady), at.steady)

  private def rest = goal.rest(place, completeAsOf)

  /** The page of the last step is stored or dropped. */
  def release(): Unit = feed.release()

  /** Ends the reading. Any thread may call this. */
  override def close(): Unit = feed.close()
}

private object ShardReader {

  /**
   * A page, and what it means.
   *
   * @param children of the shard, if it ends with the page
   * @param asked see [[PageFeed.next]]
   */
  private final case class Answer(
      page: Page,
      reach: ReadGoal.Reach,
      children: Option[Seq[ChildShard]],
      asked: Moment
  )
}
