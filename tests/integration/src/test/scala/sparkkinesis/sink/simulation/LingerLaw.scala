package sparkkinesis.sink.simulation

import scala.collection.mutable

/**
 * No row waits for its first request longer than it lingers, and until the next tick, which comes
 * within as long again, while nothing holds its task back.
 *
 * What may hold it back: as many requests are in flight as may be (with order that is one, for a lane
 * or a key may have to wait for it). Once the task has met a failure, or a shard over its quota, its
 * rows are judged no more. With order and aggregates together none is: lanes wait there also until
 * it is clear whether an aggregate lies well.
 *
 * @param isTroubled whether the task has met a failure or a shard over its quota, or was killed
 */
private[simulation] final class LingerLaw(setup: Setup, agenda: Agenda, isTroubled: () => Boolean) {
  private val bound = if (setup.isOrdered) 1 else setup.options.maxInFlightRequests
  private val isJudging = !(setup.isOrdered && setup.isAggregated)
  private val sentRows = mutable.Set.empty[Row]
  private var inFlight = 0
  private var boundUntil = Long.MinValue

  /** Rows that waited, and that nothing held back. */
  var judged = 0

  /** Its task has just put it. */
  def put(row: Row): Unit = if (isJudging && !sentRows(row)) {
    val since = agenda.now
    agenda.after(2 * setup.options.linger.toMillis + 1) {
      val isHeld = inFlight >= bound || boundUntil >= since || isTroubled()
      if (!isHeld) {
        require(sentRows(row), s"$row waits since $since, at ${agenda.now}, and nothing holds it")
        judged += 1
      }
    }
  }

  def sent(rows: Iterable[Row]): Unit = {
    sentRows ++= rows
    inFlight += 1
  }

  def answered(): Unit = {
    if (inFlight >= bound) boundUntil = agenda.now
    inFlight -= 1
  }
}
