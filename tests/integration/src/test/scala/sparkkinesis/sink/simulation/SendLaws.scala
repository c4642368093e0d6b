package sparkkinesis.sink.simulation

import scala.collection.mutable

import sparkkinesis.sink.SinkCounters
import sparkkinesis.sink.lane.{EntrySize, Lane, Request}

/**
 * What holds whenever an attempt of a task sends something.
 *
 *   - A request keeps its limits, and is not empty; no more are in flight than allowed.
 *   - What is not acknowledged takes no more memory than allowed, but for a single record.
 *   - What was acknowledged is not sent again.
 *   - It was sent in time: see [[LingerLaw]].
 *   - With order, no second request is in flight with rows of a lane or key, and Kinesis records of
 *     one key do not share a request.
 */
private[simulation] final class SendLaws(setup: Setup, lingering: LingerLaw) {
  private val keysInFlight = mutable.Set.empty[Int]
  private val lanesInFlight = mutable.Set.empty[Lane]
  private val done = mutable.Set.empty[Row]
  private var inFlight = 0

  /** Rows that were acknowledged. */
  def acknowledged: collection.Set[Row] = done

  def acknowledged(record: Landed): Unit = done ++= record.rows.map(_.row)

  def sent(request: Request, rows: Seq[Vector[FoundRow]]): Unit = {
    inFlight += 1
    require(inFlight <= setup.options.maxInFlightRequests, s"$inFlight requests in flight")
    val bytes = request.records.map(it => EntrySize.of(it.entry)).sum
    require(
      rows.size == 1 || rows.size <= setup.limits.records && bytes <= setup.limits.bytes,
      s"a request of ${rows.size} records and $bytes bytes"
    )
    require(rows.nonEmpty, "an empty request")
    val again = rows.flatten.map(_.row).filter(done)
    require(again.isEmpty, s"sent again though acknowledged: $again")
    if (setup.isOrdered) oneAtATime(request, rows)
    lingering.sent(rows.flatten.map(_.row))
  }

  private def oneAtATime(request: Request, rows: Seq[Vector[FoundRow]]): Unit = {
    val keys = rows.flatMap(_.map(_.row.key).distinct)
    require(keys.distinct.size == keys.size, s"several records of one key in a request: $keys")
    require(!keys.exists(keysInFlight), s"two requests of one key in flight: $keys")
    keysInFlight ++= keys
    val lanes = request.parts.map(_.lane)
    require(!lanes.exists(lanesInFlight), "two requests of one lane in flight")
    lanesInFlight ++= lanes
  }

  def answered(request: Request, rows: Seq[Vector[FoundRow]]): Unit = {
    inFlight -= 1
    lingering.answered()
    keysInFlight --= rows.flatten.map(_.row.key)
    lanesInFlight --= request.parts.map(_.lane)
  }

  def buffers(counters: SinkCounters): Unit = {
    val isSingle = counters.waiting == 1
    require(
      isSingle || counters.buffered <= setup.options.maxBufferedBytes,
      s"${counters.waiting} records of ${counters.buffered} bytes wait"
    )
  }
}
