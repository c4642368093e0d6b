package sparkkinesis.sink.simulation

import scala.collection.mutable

import sparkkinesis.sink.lane.{Lane, Request}

/**
 * The laws that hold whenever an attempt of a task sends a request.
 *
 *   - A request is not empty and keeps its limits. No more requests are in flight than allowed.
 *   - Records that are not acknowledged use no more memory than allowed, except a single record.
 *   - An acknowledged record is not sent again.
 *   - A row is sent in time: see [[LingerLaw]].
 *   - With order, at most one request with rows of a lane or of a key is in flight, and it has at
 *     most one Kinesis record per key.
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
    val bytes = request.records.map(it => it.entry.size.toLong).sum
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

  /** Each record that is not acknowledged counts with its bytes, and 128 more. */
  def buffers(records: Long, bytes: Long): Unit = require(
    records == 1 || bytes + 128 * records <= setup.options.maxBufferedBytes,
    s"$records records of $bytes bytes are buffered"
  )
}
