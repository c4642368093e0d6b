package sparkkinesis.source.replay

import scala.annotation.tailrec
import scala.concurrent.duration._

import sparkkinesis.client.{Clock, Moment}
import sparkkinesis.model.{ChildShard, ConsumerArn, PackedRecords}
import sparkkinesis.source.StreamClient
import sparkkinesis.source.feed._
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.protocol.ShardRange
import sparkkinesis.source.store.FetchMemory

/**
 * Reads exactly the records of ranges from Kinesis, one after the other, on the thread of a task.
 * Correctness depends on this reader, and never on buffered pages.
 *
 * @param settings page size, period between calls, and whether the query fails on a loss
 * @param isCancelled checked before each call, and while it waits
 * @param consumer by which it reads; it polls if there is none, whatever reads ahead
 * @param news of the subscriptions of the task
 */
final class ShardRangeReader(
    stream: StreamClient,
    settings: FetchSettings,
    clock: Clock,
    chance: () => Double,
    isCancelled: () => Boolean,
    consumer: Option[ConsumerArn] = None,
    news: FeedNews = new FeedNews
) extends AutoCloseable {
  import ShardRangeReader._

  private var dueAt = clock.elapsedMillis // no call begins earlier
  private var current = Option.empty[ShardReader]
  private var losses = 0L

  /** Number of losses that this attempt tolerated, with `failOnDataLoss` set to `false`. */
  def lostRanges: Long = losses

  /** The time until the next page can be requested; zero if it can be requested now. */
  def pause: FiniteDuration =
    current.filterNot(_.isOver).fold[FiniteDuration](Duration.Zero) { reader =>
      val due = math.max(0L, dueAt - clock.elapsedMillis).millis
      due.max(pauseOf(reader.readiness(clock.moment)))
    }

  private def pauseOf(readiness: ReadStep.Readiness): FiniteDuration = readiness match {
    case ReadStep.Paced(pause) => pause
    case ReadStep.Awaits(limit) => limit
    case ReadStep.HasNews | ReadStep.NeedsRoom => Duration.Zero
  }

  /**
   * Reads the range in order, one page at a time. If there is no page yet, or after a failure that
   * is retried, the iterator returns an empty page. It throws `DataLossException` as soon as it is
   * certain that a record of the range is missing, if `failOnDataLoss` is `true`.
   *
   * @param atEnd receives the children if the range reaches the shard's end
   */
  def pages(
      range: ShardRange,
      atEnd: Seq[ChildShard] => Unit = _ => ()
  ): Iterator[PackedRecords] = {
    val reader = open(range)
    current = Some(reader)
    Iterator.continually(next(range, reader, atEnd)).takeWhile(_.nonEmpty).flatten
  }

  private def open(range: ShardRange) = {
    val feed = Feeds.of(
      stream.copy(consumer = consumer),
      range.shard.shard,
      FetchMemory.unlimited,
      settings,
      settings.maxRecords,
      FeedCounts.Unread,
      chance,
      () => news.arrived()
    )
    new ShardReader(
      stream,
      range.shard,
      range.start,
      range.completeAsOf,
      ReadGoal.Exactly(range),
      feed,
      settings,
      chance
    )
  }

  private def next(
      range: ShardRange,
      reader: ShardReader,
      atEnd: Seq[ChildShard] => Unit
  ): Option[PackedRecords] =
    if (reader.isOver) {
      close()
      None
    } else {
      val read =
        try if (await(range)) stepped(reader, clock.moment, atEnd) else PackedRecords.Empty
        finally reader.release()
      losses += reader.takeLosses()
      Some(read)
    }

  private def stepped(
      reader: ShardReader,
      at: Moment,
      atEnd: Seq[ChildShard] => Unit
  ): PackedRecords = reader.step(at) match {
    case ReadStep.Read(page, pause) =>
      delay(pause)
      if (page.isEnd) atEnd(page.children)
      page.records
    case ReadStep.Retries(_, time) => delayed(time)
    case ReadStep.Doubts(time) => delayed(time)
    case ReadStep.Fails(failure) => throw failure
    case ReadStep.Loses(loss) => throw loss
    case _: ReadStep.NotYet | ReadStep.Expired | ReadStep.Ended => PackedRecords.Empty
  }

  private def delayed(time: FiniteDuration): PackedRecords = {
    delay(time)
    PackedRecords.Empty
  }

  private def delay(time: FiniteDuration): Unit = dueAt = clock.elapsedMillis + time.toMillis

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

  override def close(): Unit = current.foreach(_.close())
}

private object ShardRangeReader {

  /** How long it takes at most to notice that the task was cancelled. */
  private val LongestWait = 200.millis
}
