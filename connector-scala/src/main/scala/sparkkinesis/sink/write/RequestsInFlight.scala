package sparkkinesis.sink.write

import scala.collection.mutable

import sparkkinesis.client.KinesisException
import sparkkinesis.model.ShardId
import sparkkinesis.sink.lane.{Failures, Request}
import sparkkinesis.sink.rate.RequestLimit

/**
 * The requests of one writer to one stream whose answers are awaited.
 *
 * @param limit of all tasks of the executor together
 */
private[write] final class RequestsInFlight(limit: RequestLimit) {
  private val awaited = mutable.Set.empty[Request]
  private var isHeld = false

  def nonEmpty: Boolean = awaited.nonEmpty

  /** The oldest record of each request. */
  def oldest: Iterable[(ShardId, Failures)] = awaited.toVector.map(_.oldest)

  /** Whether the last attempt to send was in vain, because of the limit. */
  def isHeldBack: Boolean = isHeld

  /**
   * Sends a request if there is one and the limit allows it.
   *
   * @param isDue whether there may be one
   * @param make returns the request; none if there is nothing to send
   */
  def send(isDue: Boolean, now: Long)(make: => Option[Request]): Option[Request] = {
    isHeld = isDue && !limit.begin(this, now)
    val request = if (isDue && !isHeld) make else None
    if (isDue && !isHeld && request.isEmpty) limit.cancelled()
    awaited ++= request
    request
  }

  /** @return whether the answer was still awaited */
  def answered(request: Request, now: Long): Boolean = {
    val isAwaited = awaited.remove(request)
    if (isAwaited) limit.answered(request.sentAt, now)
    isAwaited
  }

  /** @return whether the answer was still awaited */
  def failed(request: Request, e: KinesisException, now: Long): Boolean = e match {
    case _: KinesisException.Unreachable =>
      val isAwaited = awaited.remove(request)
      if (isAwaited) limit.unanswered(request.sentAt, now)
      isAwaited
    case _ => answered(request, now)
  }

  /** Stops waiting for answers. */
  def abandon(): Unit = {
    awaited.foreach(_ => limit.cancelled())
    awaited.clear()
    limit.leave(this)
  }
}
