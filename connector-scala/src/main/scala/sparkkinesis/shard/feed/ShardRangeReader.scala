package sparkkinesis.shard.feed

import scala.annotation.tailrec
import scala.concurrent.duration._

import sparkkinesis.client.{Clock, Moment}
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{ChildShard, ConsumerArn, PackedRecords, StreamShard}
import sparkkinesis.shard.{FetchMemory, ReadSettings, ShardRange, StreamClient}

/**
 * Reads exactly the records of ranges from Kinesis, one after the other, on the thread of a task.
 * Correctness depends on this reader, and never on buffered pages.
 *
 * @param isCancelled checked before each call, and while it waits
 * @param consumer by which it reads; it polls if there is none, whatever reads ahead
 * @param news of the subscriptions of the task
 * @param mayAppear whether the last record of a range was just written, and may be visible later
 * @param arrival room for a page, until the next one is asked for
 */
private[sparkkinesis] final class ShardRangeReader(
    stream: StreamClient,
    settings: ReadSettings,
    clock: Clock,
    isCancelled: () => Boolean,
    consumer: Option[ConsumerArn] = None,
    news: FeedNews = new FeedNews,
    mayAppear: Boolean = false,
    arrival: FetchMemory#Arrival = FetchMemory.unlimited
) extends AutoCloseable {
  import ShardRangeReader._

  private var dueAt = clock.elapsedMillis // no call begins earlier
  private var current = Option.empty[ShardReader]
  private var children = Seq.empty[ChildShard] // of the range that was read to its shard's end
  private var losses = 0L

  /** Number of losses that this attempt tolerated, with `failOnDataLoss` set to `false`. */
  def lostRanges: Long = losses

  /** When the last answer was asked for, with the service's time of the answer if it has one. */
  def servedAt: Option[Moment] = current.flatMap(_.servedAt)

  /** The time until the next page can be requested; zero if it can be requested now. */
  def pause: FiniteDuration =
    current.filterNot(_.isOver).fold[FiniteDuration](Duration.Zero) { reader =>
      val due = math.max(0L, dueAt - clock.elapsedMillis).millis
      reader.readiness(clock.moment) match {
        case ReadStep.Paced(pause) => due.max(pause)
        case ReadStep.Awaits(limit) => due.max(limit)
        case ReadStep.HasNews | ReadStep.NeedsRoom => due
      }
    }

  /**
   * Reads the range in order, one page at a time. If there is no page yet, or after a failure that
   * is retried, the iterator returns an empty page. It throws `DataLossException` as soon as it is
   * certain that a record of the range is missing, if `failOnDataLoss` is `true`.
   *
   * After a range of a batch query, it also reads the shard's children that the plan does not
   * contain, because a listing may be some seconds old.
   */
  def pages(range: ShardRange): Iterator[(StreamShard, PackedRecords)] = {
    val reader = open(range)
    current = Some(reader)
    val own = new Iterator[PackedRecords] {
      private var fetched = Option.empty[PackedRecords] // the only page that is held

      override def hasNext: Boolean = {
        if (fetched.isEmpty) fetched = read(range, reader)
        fetched.nonEmpty
      }

      override def next(): PackedRecords = {
        val page = if (hasNext) fetched.get else Iterator.empty.next()
        fetched = None
        page
      }
    }
    own.map(range.shard -> _) ++ children.iterator.flatMap(child => pagesOf(range, child))
  }

  /** After a merge, only the reader of the first parent reads the child. */
  private def pagesOf(range: ShardRange, child: ChildShard) =
    if (!range.until.exists(_.withChildren) || child.parents.min != range.shard.shard)
      Iterator.empty
    else {
      val ofChild = range.copy(shard = range.shard.copy(shard = child.id))
      pages(range.from match {
        case _: Progress.AtTimestamp => ofChild
        case _ => ofChild.copy(from = Progress.TrimHorizon, completeAsOf = None)
      })
    }

  private def open(range: ShardRange) = {
    val feed = Feeds.of(
      stream.copy(consumer = consumer),
      range.shard.shard,
      arrival,
      settings,
      FeedCounts.Unread,
      () => clock.chance(),
      () => news.arrived()
    )
    children = Nil
    new ShardReader(
      stream,
      ReadGoal.Exactly(range, mayAppear),
      feed,
      settings,
      () => clock.chance()
    )
  }

  private def read(range: ShardRange, reader: ShardReader): Option[PackedRecords] = {
    reader.release() // the last page has been used
    if (reader.isOver) {
      close()
      None
    } else {
      val page = if (await(range)) step(reader) else PackedRecords.Empty
      losses += reader.takeLosses()
      Some(page)
    }
  }

  private def step(reader: ShardReader): PackedRecords = {
    val (records, pause) = reader.step(clock.moment) match {
      case ReadStep.Read(page, pause) =>
        children = page.children
        (page.records, pause)
      case ReadStep.Retries(_, time) => (PackedRecords.Empty, time)
      case ReadStep.Doubts(time) => (PackedRecords.Empty, time)
      case ReadStep.Fails(failure) => throw failure
      case ReadStep.Loses(loss) => throw loss
      case _: ReadStep.NoPage =>
        (PackedRecords.Empty, Duration.Zero)
    }
    dueAt = clock.elapsedMillis + pause.toMillis
    records
  }

  /**
   * Waits until a step makes sense.
   *
   * @return `false` if nothing has arrived for a while, so that another range may be read
   */
  @tailrec private def await(range: ShardRange): Boolean = {
    if (isCancelled())
      throw new InterruptedException(s"Reading $range of stream ${stream.ref} was cancelled.")
    val wait = pause.min(LongestWait)
    if (wait <= Duration.Zero) true
    else if (consumer.nonEmpty) {
      news.await(wait, clock)
      pause <= Duration.Zero
    } else {
      clock.sleep(wait)
      await(range)
    }
  }

  override def close(): Unit = current.foreach { reader =>
    reader.release()
    reader.close()
  }
}

private object ShardRangeReader {

  /** How long it takes at most to notice that the task was cancelled. */
  private val LongestWait = 200.millis
}
