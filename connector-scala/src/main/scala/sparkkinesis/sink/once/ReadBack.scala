package sparkkinesis.sink.once

import java.time.Instant
import java.util.concurrent._
import java.util.concurrent.atomic.AtomicLong

import scala.annotation.tailrec
import scala.collection.mutable
import scala.concurrent.duration._

import sparkkinesis.client._
import sparkkinesis.compat._
import sparkkinesis.model._
import sparkkinesis.model.aggregate.{AggregateMarker, AggregateTags, UserRecords}
import sparkkinesis.model.offset.Progress
import sparkkinesis.shard._
import sparkkinesis.shard.feed.ShardRangeReader

/**
 * Reads what writers with an identity have written to a stream. The caller makes sure that what
 * they wrote has had its effect.
 *
 * First each open shard gets a marker: what those writers wrote is before it. Then every shard is
 * read up to its marker, or to its end, several shards at a time, at the pace of the read quota.
 * The answer to a marker proves that its shard was open, so the listing was not out of date.
 *
 * @param summary of the stream
 * @param memory for pages of shards that are read at the same time, in bytes
 * @param mostBytes of the hashes of all rows
 */
private[sparkkinesis] final class ReadBack(
    stream: StreamClient,
    summary: StreamSummary,
    clock: Clock,
    memory: Long = ReadBack.memoryOf(Runtime.getRuntime.maxMemory),
    mostBytes: Long = SortedHashes.MostBytes
) {
  import ReadBack._
  import stream.{client, ref}

  private val pages = new FetchMemory().join(memory)

  /**
   * @param now by the service's clock
   * @throws OnceException if records that arrived since may have expired
   */
  def requireRetained(since: Instant, now: Instant): Unit =
    if (since.isBefore(now.minusMillis(summary.retention.toMillis)))
      throw OnceException.tooLate(ref, since, summary.retention)

  /**
   * The aggregates that the pass needs.
   *
   * @throws OnceException if the service fails for five minutes or longer, if a record of the batch
   *   may have expired before it was read, or if there are too many rows
   * @throws KinesisException that a retry cannot fix
   */
  def read(pass: Look): Seq[FoundAggregate] = {
    val markers = mutable.Map.empty[ShardId, SequenceNumber]
    val (shards, listedAt) = marked(pass, markers)
    val bytes = new AtomicLong
    val ids = shards.map(_.id).toSet
    def add(rows: Array[Byte]) =
      SortedHashes.requireFits(bytes.addAndGet(rows.length.toLong), mostBytes)
    val atATime = math.min(MostAtATime, memory / UsualPageBytes).toInt
    ShardReaders
      .readAll(shards, atATime) { it =>
        readShard(it.id, start(it, ids, pass), markers.get(it.id), pass, listedAt, add)
      }
      .flatten
  }

  /**
   * Where reading a shard begins. A record from which it could begin comes before the doubts of its
   * own lane, but not before those of a shard that it came from.
   */
  private def start(shard: Shard, read: Set[ShardId], pass: Look): Progress = {
    val isChild = shard.parents.exists(read)
    val after = pass.shards.flatMap(_.get(shard.id)).flatten.filterNot(_ => isChild)
    after.fold[Progress](Progress.AtTimestamp(pass.from))(Progress.After(_))
  }

  private def readShard(
      shard: ShardId,
      start: Progress,
      marker: Option[SequenceNumber],
      pass: Look,
      listedAt: Moment,
      add: Array[Byte] => Unit
  ): Vector[FoundAggregate] = {
    var unread = pass.from // what was not read yet is not older
    val all = Vector.newBuilder[FoundAggregate]
    val writers = mutable.Map.empty[String, WriterIdentity] // one object for all its aggregates
    def found(record: Record) = for {
      text <- AggregateTags.textOf(record.data)
      writer <- writers.get(text).orElse(WriterIdentity.parse(text).filter(pass.needs))
    } {
      writers(text) = writer
      val aggregate = aggregateOf(record, writer, pass)
      add(aggregate.rows)
      all += aggregate
    }
    val reader = new ShardRangeReader(
      stream,
      Settings,
      clock,
      () => false,
      mayAppear = marker.nonEmpty,
      arrival = pages.arrival()
    )
    // Never the time of this machine, which may be wrong.
    def now = {
      val last = reader.servedAt.getOrElse(listedAt)
      last.now.plusMillis(clock.elapsedMillis - last.steady.toEpochMilli)
    }
    try
      for ((_, records) <- reader.pages(rangeOf(shard, start, marker))) {
        requireRetained(unread, now)
        records.foreach(found)
        val read = records.lastArrivalMillis.map(it => Instant.ofEpochMilli(it - Margin))
        unread = (read.toSeq :+ unread).max
      }
    catch {
      case loss: DataLossException =>
        requireRetained(unread, now)
        // A shard without a marker has ended. It no longer exists, so its records have expired.
        if (marker.nonEmpty) throw OnceException.failed(s"find its marker in $shard of $ref", loss)
      case e: KinesisException if e.isRetryable => throw unanswered(s"read shard $shard", e)
    } finally reader.close()
    all.result()
  }

  /** A shard up to the marker, or up to its end if it has none. */
  private def rangeOf(shard: ShardId, start: Progress, marker: Option[SequenceNumber]) =
    ShardRange(
      StreamShard(summary.arn, shard),
      start,
      marker.fold[Progress](Progress.Finished)(Progress.After(_))
    )

  /** The shards that the pass reads: all, unless each shard that it names is listed. */
  private def selected(pass: Look, listed: Seq[Shard]): Seq[Shard] = {
    @tailrec
    def withChildren(found: Set[ShardId]): Set[ShardId] = {
      val more = found ++ listed.filter(_.parents.exists(found)).map(_.id)
      if (more == found) found else withChildren(more)
    }
    pass.shards.map(_.keySet.toSet).filter(_.subsetOf(listed.map(_.id).toSet)).fold(listed) { in =>
      val all = withChildren(in)
      listed.filter(it => all(it.id))
    }
  }

  /**
   * Lists the shards until each open one that the pass reads has a marker. Repeats this while the
   * service is busy.
   *
   * @return the shards to read, and when they were listed, with the service's time
   */
  private def marked(
      pass: Look,
      markers: mutable.Map[ShardId, SequenceNumber]
  ): (Seq[Shard], Moment) = {
    var (failures, failingSince, before) = (0, clock.elapsedMillis, markers.size)
    Retry.repeated(clock, Retry.Pauses) { e =>
      val now = clock.elapsedMillis
      if (markers.size > before) {
        failures = 0
        failingSince = now
        before = markers.size
      }
      failures += 1
      if (e.isRetryable && now - failingSince > Patience.toMillis)
        throw unanswered("mark the shards", e)
      Option.when(e.isRetryable)(failures)
    } {
      val asked = clock.moment
      val listing = ShardLister.list(client, ref, ShardFilter.FromTrimHorizon)
      val open = ShardMap.of(listing.shards).map(_.shards.toSet).getOrElse(throw changing)
      val chosen = selected(pass, listing.shards)
      def unmarked = chosen.filter(it => open(it.id) && !markers.contains(it.id))
      val failures = unmarked.grouped(MostMarkers).flatMap(mark(_, markers)).toVector
      if (unmarked.nonEmpty) throw failures.sortBy(_.isRetryable).headOption.getOrElse(changing)
      (chosen, asked.copy(listing.serverTime.getOrElse(asked.now)))
    }
  }

  /** Writes a marker into each of the shards. Returns why some have none. */
  private def mark(
      shards: Seq[Shard],
      markers: mutable.Map[ShardId, SequenceNumber]
  ): Seq[KinesisException] = {
    val entries = shards.map(it => AggregateMarker.entry(it.hashKeys.first))
    shards.zip(client.putRecords(ref, entries)).flatMap {
      case (shard, PutResult.Written(there, number)) if there == shard.id =>
        markers(shard.id) = number
        None
      case (_, PutResult.Failed(code, message)) => Some(refused(code, message))
      case _ => Some(changing)
    }
  }

  private def refused(code: String, message: String): KinesisException =
    ErrorCodes.exception(code) match {
      case Some(make) => make(s"PutRecords for stream $ref: $message ($code).", null)
      case None => new KinesisException.ServiceFailure(message)
    }

  private def changing = new KinesisException.InUse(
    s"The shards of stream $ref are changing, and the listing does not show them all."
  )

  private def aggregateOf(record: Record, writer: WriterIdentity, pass: Look) = {
    val entry = PutEntry(record.partitionKey.getOrElse(""), record.data, Some(HashKey.Min))
    val rows = if (pass.needsRows) UserRecords.of(entry).map(Hash128.ofRow) else Nil
    FoundAggregate(writer, Hash128.ofAggregate(record.data), Hash128.encode(rows))
  }

  private def unanswered(what: String, e: KinesisException) = new OnceException(
    OnceException.ReadBackFailed,
    s"The sink could not $what of stream $ref for $Patience or longer, so it does not know which " +
      s"rows are there: ${e.getMessage} Run the query again when the service answers.",
    e
  )
}

private[sparkkinesis] object ReadBack {
  private val Patience = 5.minutes

  /** The driver's memory for pages: a part of its heap, in bytes. */
  private[once] def memoryOf(heap: Long): Long = heap / 8

  /** At five calls per second, pages of this size use the whole read quota of a shard. */
  private val UsualPageBytes =
    ServiceLimits.ReadBytesPerSecond * ServiceLimits.GetRecordsPeriod.toMillis / 1000

  /** Each shard that is read has a thread. */
  private val MostAtATime = 256L

  /**
   * Calls that fail are repeated for five minutes, and those that a quota refused without limit.
   */
  private val Settings = ReadSettings(retryTimeout = Some(Patience))

  /** Most markers in one call of `PutRecords`. */
  private val MostMarkers = 500
  private val Margin = OnceTerms().margin.toMillis // arrival times are approximate
}

/**
 * Threads that read shards side by side. When the call ends, it interrupts those that still read,
 * and gives them a short time to end.
 */
private object ShardReaders {

  /**
   * Reads each shard, at most so many at a time. With one at a time, the caller's thread reads.
   *
   * @return the results, in any order
   * @throws InterruptedException or what `read` throws; the other reads are then interrupted
   */
  def readAll[A, B](shards: Seq[A], atATime: Int)(read: A => B): Seq[B] =
    if (math.min(atATime, shards.size) <= 1) shards.map(read)
    else {
      val pool = Executors.newFixedThreadPool(math.min(atATime, shards.size), NewThread)
      val answers = new ExecutorCompletionService[B](pool)
      try {
        shards.foreach(shard => answers.submit(() => read(shard)))
        shards.map(_ => answers.take().get())
      } catch { case e: ExecutionException => throw e.getCause }
      finally DaemonThreads.end(pool, EndTime)
    }

  /** An interrupted call ends well within this time. */
  private val EndTime = 2.seconds
  private val NewThread = DaemonThreads.named("spark-kinesis-once-shard")
}

/** What is to be read back. */
private[sparkkinesis] trait Look {

  /** What is needed is not older, by the service's clock. */
  def from: Instant

  /** Whether an aggregate of that writer is needed. Any thread may call it. */
  def needs(writer: WriterIdentity): Boolean

  /**
   * The shards to read, besides those that came from them, each from after a record or else from
   * `from`. `None` for all shards.
   */
  def shards: Option[Map[ShardId, Option[SequenceNumber]]] = None

  /** Whether the rows of the aggregates are needed. */
  def needsRows: Boolean = true
}

/**
 * An aggregate of the batch that is in the stream.
 *
 * @param rows their hashes, by [[Hash128.encode]]: a batch may have millions. Empty if they are not
 *   needed
 */
private[sparkkinesis] final case class FoundAggregate(
    writer: WriterIdentity,
    digest: Hash128,
    rows: Array[Byte]
)
