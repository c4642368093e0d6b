package sparkkinesis.sink.once

import java.time.Instant
import java.util.concurrent.atomic.AtomicLong

import scala.annotation.tailrec
import scala.collection.mutable
import scala.concurrent.duration._

import sparkkinesis.client._
import sparkkinesis.compat._
import sparkkinesis.model._
import sparkkinesis.model.aggregate.{AggregateMarker, AggregateTags, UserRecords}

/**
 * Reads what writers with an identity have written to a stream. The caller makes sure that none of
 * these writers can still write.
 *
 * First each open shard gets a marker: what those writers wrote is before it. Then every shard is
 * read up to its marker, or to its end, several shards at a time. The answer to a marker proves
 * that its shard was open, so the listing was not out of date.
 *
 * @param since before the first record of the batch
 * @param retention of the stream
 * @param atATime number of shards that are read at a time; each takes the memory of a page, 10 MB
 * @param mostBytes of the hashes of all rows
 */
final class ReadBack(
    client: KinesisClient,
    stream: StreamRef,
    since: Instant,
    retention: FiniteDuration,
    clock: Clock,
    atATime: Int,
    mostBytes: Long = SortedHashes.MostBytes
) {
  import ReadBack._

  /**
   * @param now by the service's clock
   * @param from the needed records are not older
   * @throws OnceException if one of them may have expired
   */
  def requireRetained(now: Instant, from: Instant = since): Unit =
    if (from.isBefore(now.minusMillis(retention.toMillis)))
      throw OnceException.tooLate(stream, from, retention)

  /**
   * The aggregates whose writer the function accepts.
   *
   * @param accepts several threads call it
   * @param from the aggregates are not older
   * @throws OnceException if the service does not answer for five minutes, if a record of the batch
   *   may have expired before it was read, or if there are too many rows
   * @throws KinesisException that a retry cannot fix
   */
  def read(accepts: WriterIdentity => Boolean, from: Instant = since): Seq[FoundAggregate] = {
    val markers = mutable.Map.empty[ShardId, SequenceNumber]
    val shards = marked(markers).map(it => it.id -> markers.get(it.id))
    val bytes = new AtomicLong
    def add(rows: Array[Byte]) =
      SortedHashes.requireFits(bytes.addAndGet(rows.length.toLong), mostBytes)
    ShardReaders
      .readAll(shards, atATime) { case (shard, to) => readShard(shard, to, accepts, from, add) }
      .flatten
  }

  private def readShard(
      shard: ShardId,
      marker: Option[SequenceNumber],
      accepts: WriterIdentity => Boolean,
      from: Instant,
      add: Array[Byte] => Unit
  ): Vector[FoundAggregate] = {
    var unread = from // what was not read yet is not older
    val all = Vector.newBuilder[FoundAggregate]
    val writers = mutable.Map.empty[String, WriterIdentity] // one object for all its aggregates
    pages(shard, marker, from) { page =>
      requireRetained(page.serverTime.getOrElse(clock.now), unread)
      page.records.foreach { record =>
        for {
          text <- AggregateTags.textOf(record.data)
          writer <- writers.get(text).orElse(WriterIdentity.parse(text).filter(accepts))
        } {
          writers(text) = writer
          all += found(record, writer, add)
        }
      }
      val read = page.records.lastOption.map(it => Instant.ofEpochMilli(it.arrivalMillis - Margin))
      unread = (read.toSeq :+ unread).max
    }
    all.result()
  }

  /** Lists the shards until each open one has a marker. */
  private def marked(markers: mutable.Map[ShardId, SequenceNumber]): Seq[Shard] =
    patiently("mark the shards", markers.size) {
      val listed = ShardLister.list(client, stream, ShardFilter.FromTrimHorizon).shards
      val open = ShardMap.of(listed).map(_.shards.toSet).getOrElse(throw changing)
      def unmarked = listed.filter(it => open(it.id) && !markers.contains(it.id))
      val failures = unmarked.grouped(MostMarkers).flatMap(mark(_, markers)).toVector
      if (unmarked.nonEmpty) throw failures.sortBy(_.isRetryable).headOption.getOrElse(changing)
      listed
    }

  /** Writes a marker into each of the shards. Returns why some have none. */
  private def mark(
      shards: Seq[Shard],
      markers: mutable.Map[ShardId, SequenceNumber]
  ): Seq[KinesisException] = {
    val entries = shards.map(it => AggregateMarker.entry(it.hashKeys.first))
    shards.zip(client.putRecords(stream, entries)).flatMap {
      case (shard, PutResult.Written(there, number)) if there == shard.id =>
        markers(shard.id) = number
        None
      case (_, PutResult.Failed(code, message)) => Some(refused(code, message))
      case _ => Some(changing)
    }
  }

  private def refused(code: String, message: String): KinesisException =
    ErrorCodes.exception(code) match {
      case Some(make) => make(s"PutRecords for stream $stream: $message ($code).", null)
      case None => new KinesisException.ServiceFailure(message)
    }

  private def changing = new KinesisException.InUse(
    s"The shards of stream $stream are changing, and the listing does not show them all."
  )

  /** Reads a shard up to the marker, or up to its end if it has none. */
  private def pages(shard: ShardId, marker: Option[SequenceNumber], from: Instant)(
      use: Page => Unit
  ): Unit = {
    @tailrec
    def next(position: Position, iterator: Option[ShardIterator]): Unit = {
      val page = patiently(s"read shard $shard") {
        val token = iterator.getOrElse(client.shardIterator(stream, shard, position))
        try client.getRecords(stream, token, MostRecords)
        catch {
          case _: KinesisException.IteratorExpired =>
            Page(Vector.empty, Some(client.shardIterator(stream, shard, position)), None, Nil)
        }
      }
      val before = page.records.takeWhile(it => marker.forall(it.sequenceNumber < _))
      use(page.copy(records = before))
      val last = page.records.lastOption.map(it => Position.AfterSequenceNumber(it.sequenceNumber))
      if (before.size == page.records.size && page.next.nonEmpty) {
        // The marker is not visible yet, or more empty pages precede it.
        if (last.isEmpty) clock.sleep(ServiceLimits.GetRecordsPeriod)
        next(last.getOrElse(position), page.next)
      }
    }

    next(Position.AtTimestamp(from), None)
  }

  private def found(record: Record, writer: WriterIdentity, add: Array[Byte] => Unit) = {
    val entry = PutEntry(record.partitionKey.getOrElse(""), record.data, Some(HashKey.Min))
    val rows = Hash128.encode(UserRecords.of(entry).map(Hash128.ofRow))
    add(rows)
    FoundAggregate(writer, Hash128.ofAggregate(record.data), rows)
  }

  /**
   * Repeats a call that may succeed later.
   *
   * @param progress rises when a call that failed has nevertheless achieved something
   */
  private def patiently[A](what: String, progress: => Int = 0)(call: => A): A = {
    var (failures, since, before) = (0, clock.elapsedMillis, progress)
    Retry.repeated(clock, Retry.Pauses) { e =>
      val (now, reached) = (clock.elapsedMillis, progress)
      if (reached > before) {
        failures = 0
        since = now
        before = reached
      }
      failures += 1
      if (e.isRetryable && now - since > Patience.toMillis) throw unanswered(what, e)
      Option.when(e.isRetryable)(failures)
    }(call)
  }

  private def unanswered(what: String, e: KinesisException) = new OnceException(
    OnceException.ReadBackFailed,
    s"The sink could not $what of stream $stream for $Patience, so it does not know which rows " +
      s"are there: ${e.getMessage} Run the query again when the service answers.",
    e
  )
}

private object ReadBack {
  private val MostRecords = 10000

  /** Most markers in one call of `PutRecords`. */
  private val MostMarkers = 500
  private val Patience = 5.minutes
  private val Margin = OnceTerms().margin.toMillis // arrival times are approximate
}
