package sparkkinesis.sink.once

import java.time.Instant

import scala.annotation.tailrec
import scala.collection.mutable
import scala.concurrent.duration._

import sparkkinesis.client._
import sparkkinesis.model._
import sparkkinesis.model.aggregate.{AggregateMarker, AggregateTags, UserRecords}

/** An aggregate of the batch that is in the stream. */
final case class FoundAggregate(writer: WriterIdentity, digest: Hash128, rows: Vector[Hash128])

/**
 * Reads what writers with an identity have written to a stream. The caller makes sure that none of
 * these writers can still write.
 *
 * First each open shard gets a marker: what those writers wrote is before it. Then every shard is
 * read up to its marker, or to its end. The answer to a marker proves that its shard was open, so the
 * listing was not out of date.
 *
 * @param since before the first record of the batch
 * @param retention of the stream
 * @param chance evenly distributed in `[0, 1)`
 */
final class ReadBack(
    client: KinesisClient,
    stream: StreamRef,
    since: Instant,
    retention: FiniteDuration,
    clock: Clock,
    chance: () => Double
) {
  import ReadBack._

  /**
   * Checks that no record of the batch may have expired.
   *
   * @param now by the service's clock
   * @throws OnceException if one may have
   */
  def requireRetained(now: Instant): Unit =
    if (since.isBefore(now.minusMillis(retention.toMillis)))
      throw OnceException.tooLate(stream, since, retention)

  /**
   * The aggregates whose writer the function accepts.
   *
   * @throws OnceException if the service does not answer for five minutes, or if a record of the batch
   *   may have expired before it was read
   * @throws KinesisException that a retry cannot fix
   */
  def read(accepts: WriterIdentity => Boolean): Vector[FoundAggregate] = {
    val markers = mutable.Map.empty[ShardId, SequenceNumber]
    var readAt = Option.empty[Instant]
    val all = Vector.newBuilder[FoundAggregate]
    marked(markers).foreach { shard =>
      pages(shard.id, markers.get(shard.id)) { page =>
        readAt = page.serverTime.orElse(readAt)
        page.records.foreach(all ++= found(_, accepts))
      }
    }
    requireRetained(readAt.getOrElse(clock.now))
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
  private def pages(shard: ShardId, marker: Option[SequenceNumber])(use: Page => Unit): Unit = {
    @tailrec
    def from(position: Position, iterator: Option[ShardIterator]): Unit = {
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
      if (before.size == page.records.size && page.next.nonEmpty)
        from(last.getOrElse(position), page.next)
    }

    from(Position.AtTimestamp(since), None)
  }

  private def found(record: Record, accepts: WriterIdentity => Boolean): Option[FoundAggregate] =
    AggregateTags.textOf(record.data).flatMap(WriterIdentity.parse).filter(accepts).map { writer =>
      val entry = PutEntry(record.partitionKey.getOrElse(""), record.data, Some(HashKey.Min))
      FoundAggregate(
        writer,
        Hash128.ofAggregate(record.data),
        UserRecords.of(entry).map(Hash128.ofRow)
      )
    }

  /**
   * Repeats a call that may succeed later.
   *
   * @param progress rises when a call that failed has nevertheless achieved something
   */
  private def patiently[A](what: String, progress: => Int = 0)(call: => A): A = {
    @tailrec
    def attempt(failures: Int, since: Long): A = {
      val before = progress
      val answer =
        try Right(call)
        catch { case e: KinesisException if e.isRetryable => Left(e) }
      answer match {
        case Right(value) => value
        case Left(e) =>
          val now = clock.elapsedMillis
          val (failed, begin) = if (progress > before) (0, now) else (failures, since)
          if (now - begin > Patience.toMillis) throw unanswered(what, e)
          clock.sleep(Pauses.delay(failed + 1, chance()))
          attempt(failed + 1, begin)
      }
    }
    attempt(0, clock.elapsedMillis)
  }

  private def unanswered(what: String, e: KinesisException) = new OnceException(
    OnceException.ReadBackFailed,
    s"The sink could not $what of stream $stream for $Patience, so it does not know which rows are " +
      s"there: ${e.getMessage} Run the query again when the service answers.",
    e
  )
}

private object ReadBack {
  private val MostRecords = 10000

  /** Of a call of `PutRecords`. */
  private val MostMarkers = 500
  private val Patience = 5.minutes
  private val Pauses = Backoff(base = 200.millis, cap = 5.seconds)
}
