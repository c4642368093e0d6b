package sparkkinesis.sink.simulation

import scala.collection.mutable

/**
 * A row waits for its first request at most twice the linger time (until it has lingered, and then
 * until the next tick), unless something holds its task back.
 *
 * A task is held back while as many requests are in flight as allowed. With order one request is
 * enough, because a lane or a key may have to wait for it. One is enough, too, if slow answers or
 * many requests may use up the limit of the executor. If several tasks share this limit, no row is
 * checked, because they take turns. After a failure, or after a shard exceeded its quota, the rows
 * of the task are not checked any more. With order and aggregates together no row is checked,
 * because lanes also wait for misplaced aggregates.
 *
 * @param isTroubled whether the task had a failure or a shard over its quota, or was killed
 */
private[simulation] final class LingerLaw(setup: Setup, agenda: Agenda, isTroubled: () => Boolean) {
  private val bound =
    if (setup.isOrdered || setup.sharesLimit) 1 else setup.options.maxInFlightRequests
  private val isJudging =
    !(setup.isOrdered && setup.isAggregated) && (setup.tasks == 1 || !setup.sharesLimit)
  private val sentRows = mutable.Set.empty[Row]
  private var inFlight = 0
  private var boundUntil = Long.MinValue

  /** Number of rows that were checked, because nothing held them back. */
  var judged = 0

  /** The task has just put the row. */
  def put(row: Row): Unit = if (isJudging && !sentRows(row)) {
    val since = agenda.now
    agenda.after(2 * setup.options.linger.toMillis + 1) {
      val isHeld = inFlight >= bound || boundUntil >= since || isTroubled()
      if (!isHeld) {
        require(
          sentRows(row),
          s"$row still waits at ${agenda.now} since $since, and nothing holds it back"
        )
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
