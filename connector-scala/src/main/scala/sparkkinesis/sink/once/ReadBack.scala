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
 * @param chance evenly distributed in `[0, 1)`
 */
final class ReadBack(
    client: KinesisClient,
    stream: StreamRef,
    since: Instant,
    clock: Clock,
    chance: () => Double
) {
  import ReadBack._

  /**
   * The aggregates whose writer the function accepts.
   *
   * @throws OnceException if the service does not answer for five minutes
   * @throws KinesisException that a retry cannot fix
   */
  def read(accepts: WriterIdentity => Boolean): Vector[FoundAggregate] = {
    val markers = mutable.Map.empty[ShardId, SequenceNumber]
    val shards = marked(markers)
    shards.toVector.flatMap(shard => aggregates(shard.id, markers.get(shard.id), accepts))
  }

  /** Lists the shards until each open one has a marker. */
  private def marked(markers: mutable.Map[ShardId, SequenceNumber]): Seq[Shard] =
    patiently("mark the shards") {
      val listed = ShardLister.list(client, stream, ShardFilter.FromTrimHorizon).shards
      val open = ShardMap.of(listed).map(_.shards.toSet).getOrElse(throw changing)
      listed.filter(it => open(it.id) && !markers.contains(it.id)).foreach { shard =>
        client.putRecords(stream, Seq(AggregateMarker.entry(shard.hashKeys.first))) match {
          case Seq(PutResult.Written(shard.id, number)) => markers(shard.id) = number
          case Seq(PutResult.Failed(code, message)) => throw refused(code, message)
          case _ => throw changing
        }
      }
      listed
    }

  private def refused(code: String, message: String): KinesisException =
    ErrorCodes.exception(code) match {
      case Some(make) => make(s"PutRecords for stream $stream: $message ($code).", null)
      case None => new KinesisException.ServiceFailure(message)
    }

  private def changing = new KinesisException.InUse(
    s"The shards of stream $stream are changing, and the listing does not show them all."
  )

  /** Those of a shard before the marker, or all if it has none. */
  private def aggregates(
      shard: ShardId,
      marker: Option[SequenceNumber],
      accepts: WriterIdentity => Boolean
  ): Vector[FoundAggregate] = {
    val all = Vector.newBuilder[FoundAggregate]

    @tailrec
    def from(position: Position, iterator: Option[ShardIterator]): Unit = {
      val (records, next) = patiently(s"read shard $shard") {
        val token = iterator.getOrElse(client.shardIterator(stream, shard, position))
        try {
          val page = client.getRecords(stream, token, MostRecords)
          (page.records, page.next)
        } catch {
          case _: KinesisException.IteratorExpired =>
            (IndexedSeq.empty[Record], Some(client.shardIterator(stream, shard, position)))
        }
      }
      val before = records.takeWhile(it => marker.forall(it.sequenceNumber < _))
      before.foreach(all ++= found(_, accepts))
      val last = records.lastOption.map(it => Position.AfterSequenceNumber(it.sequenceNumber))
      if (before.size == records.size && next.nonEmpty) from(last.getOrElse(position), next)
    }

    from(Position.AtTimestamp(since), None)
    all.result()
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

  /** Repeats a call that may succeed later. */
  private def patiently[A](what: String)(call: => A): A = {
    val begin = clock.elapsedMillis

    @tailrec
    def attempt(failures: Int): A = {
      val answer =
        try Right(call)
        catch { case e: KinesisException if e.isRetryable => Left(e) }
      answer match {
        case Right(value) => value
        case Left(e) =>
          if (clock.elapsedMillis - begin > Patience.toMillis) throw failed(what, e)
          clock.sleep(Pauses.delay(failures + 1, chance()))
          attempt(failures + 1)
      }
    }
    attempt(0)
  }

  private def failed(what: String, e: KinesisException) = new OnceException(
    OnceException.ReadBackFailed,
    s"The sink could not $what of stream $stream for $Patience, so it does not know which rows are " +
      s"there: ${e.getMessage} Run the query again when the service answers."
  )
}

private object ReadBack {
  private val MostRecords = 10000
  private val Patience = 5.minutes
  private val Pauses = Backoff(base = 200.millis, cap = 5.seconds)
}
