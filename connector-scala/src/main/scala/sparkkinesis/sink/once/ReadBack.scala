package sparkkinesis.sink.once

import java.time.Instant
import java.util.concurrent.atomic.AtomicLong

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
 * Reads what writers with an identity have written to a stream. The caller makes sure that none of
 * these writers can still write.
 *
 * First each open shard gets a marker: what those writers wrote is before it. Then every shard is
 * read up to its marker, or to its end, several shards at a time. The answer to a marker proves
 * that its shard was open, so the listing was not out of date.
 *
 * @param summary of the stream
 * @param since before the first record of the batch
 * @param atATime number of shards that are read at a time; each takes the memory of a page, 10 MB
 * @param mostBytes of the hashes of all rows
 */
final class ReadBack(
    stream: StreamClient,
    summary: StreamSummary,
    since: Instant,
    clock: Clock,
    atATime: Int,
    mostBytes: Long = SortedHashes.MostBytes
) {
  import ReadBack._
  import stream.{client, ref}

  /**
   * @param now by the service's clock
   * @param from the needed records are not older
   * @throws OnceException if one of them may have expired
   */
  def requireRetained(now: Instant, from: Instant = since): Unit =
    if (from.isBefore(now.minusMillis(summary.retention.toMillis)))
      throw OnceException.tooLate(ref, from, summary.retention)

  /**
   * The aggregates whose writer the function accepts.
   *
   * @param accepts several threads call it
   * @param from the aggregates are not older
   * @throws OnceException if the service fails for five minutes or longer, if a record of the batch
   *   may have expired before it was read, or if there are too many rows
   * @throws KinesisException that a retry cannot fix
   */
  def read(accepts: WriterIdentity => Boolean, from: Instant = since): Seq[FoundAggregate] = {
    val markers = mutable.Map.empty[ShardId, SequenceNumber]
    val (listing, listedAt) = marked(markers)
    val shards = listing.map(it => it.id -> markers.get(it.id))
    val bytes = new AtomicLong
    def add(rows: Array[Byte]) =
      SortedHashes.requireFits(bytes.addAndGet(rows.length.toLong), mostBytes)
    ShardReaders
      .readAll(shards, atATime) { case (shard, to) =>
        readShard(shard, to, accepts, from, listedAt, add)
      }
      .flatten
  }

  private def readShard(
      shard: ShardId,
      marker: Option[SequenceNumber],
      accepts: WriterIdentity => Boolean,
      from: Instant,
      listedAt: Moment,
      add: Array[Byte] => Unit
  ): Vector[FoundAggregate] = {
    var unread = from // what was not read yet is not older
    val all = Vector.newBuilder[FoundAggregate]
    val writers = mutable.Map.empty[String, WriterIdentity] // one object for all its aggregates
    def found(record: Record) = for {
      text <- AggregateTags.textOf(record.data)
      writer <- writers.get(text).orElse(WriterIdentity.parse(text).filter(accepts))
    } {
      writers(text) = writer
      all += aggregate(record, writer, add)
    }
    val reader =
      new ShardRangeReader(stream, Settings, clock, () => false, mayAppear = marker.nonEmpty)
    // Never the time of this machine, which may be wrong.
    def now = {
      val last = reader.servedAt.getOrElse(listedAt)
      last.now.plusMillis(clock.elapsedMillis - last.steady.toEpochMilli)
    }
    try
      for ((_, records) <- reader.pages(rangeOf(shard, marker, from))) {
        requireRetained(now, unread)
        records.foreach(found)
        val read = records.lastArrivalMillis.map(it => Instant.ofEpochMilli(it - Margin))
        unread = (read.toSeq :+ unread).max
      }
    catch {
      case loss: DataLossException =>
        requireRetained(now, unread)
        // A shard without a marker has ended. It no longer exists, so its records have expired.
        if (marker.nonEmpty) throw OnceException.failed(s"find its marker in $shard of $ref", loss)
      case e: KinesisException if e.isRetryable => throw unanswered(s"read shard $shard", e)
    } finally reader.close()
    all.result()
  }

  /** A shard up to the marker, or up to its end if it has none. */
  private def rangeOf(shard: ShardId, marker: Option[SequenceNumber], from: Instant) = ShardRange(
    StreamShard(summary.arn, shard),
    Progress.AtTimestamp(from),
    marker.fold[Progress](Progress.Finished)(Progress.After(_))
  )

  /**
   * Lists the shards until each open one has a marker. Repeats this while the service is busy.
   *
   * @return the shards, and when they were listed, with the service's time
   */
  private def marked(markers: mutable.Map[ShardId, SequenceNumber]): (Seq[Shard], Moment) = {
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
      val listed = listing.shards
      val open = ShardMap.of(listed).map(_.shards.toSet).getOrElse(throw changing)
      def unmarked = listed.filter(it => open(it.id) && !markers.contains(it.id))
      val failures = unmarked.grouped(MostMarkers).flatMap(mark(_, markers)).toVector
      if (unmarked.nonEmpty) throw failures.sortBy(_.isRetryable).headOption.getOrElse(changing)
      (listed, asked.copy(listing.serverTime.getOrElse(asked.now)))
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

  private def aggregate(record: Record, writer: WriterIdentity, add: Array[Byte] => Unit) = {
    val entry = PutEntry(record.partitionKey.getOrElse(""), record.data, Some(HashKey.Min))
    val rows = Hash128.encode(UserRecords.of(entry).map(Hash128.ofRow))
    add(rows)
    FoundAggregate(writer, Hash128.ofAggregate(record.data), rows)
  }

  private def unanswered(what: String, e: KinesisException) = new OnceException(
    OnceException.ReadBackFailed,
    s"The sink could not $what of stream $ref for $Patience or longer, so it does not know which " +
      s"rows are there: ${e.getMessage} Run the query again when the service answers.",
    e
  )
}

private object ReadBack {
  private val Patience = 5.minutes

  /**
   * Calls that fail are repeated for five minutes, and those that a quota refused without limit.
   */
  private val Settings = ReadSettings(retryTimeout = Some(Patience))

  /** Most markers in one call of `PutRecords`. */
  private val MostMarkers = 500
  private val Margin = OnceTerms().margin.toMillis // arrival times are approximate
}
