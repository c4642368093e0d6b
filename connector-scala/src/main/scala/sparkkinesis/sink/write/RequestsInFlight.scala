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

  /** The oldest record of each request, if it was sent by then. */
  def oldest(before: Long): Iterable[(ShardId, Failures)] =
    awaited.iterator.filter(_.firstSentAt <= before).map(_.oldest).toVector

  /** Whether a request waits because of the limit. */
  def isHeldBack: Boolean = isHeld

  /**
   * Whether to send a request now. If so, it counts from now on: see `sent`.
   *
   * @param isWanted whether there is one
   */
  def begin(isWanted: Boolean, now: Long): Boolean = {
    isHeld = isWanted && !limit.begin(this, now)
    isWanted && !isHeld
  }

  /** After `begin`: the request is sent, or there was none after all. Returns it. */
  def sent(request: Option[Request]): Option[Request] = {
    if (request.isEmpty) limit.cancelled()
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
    case _: KinesisException.Withheld =>
      val isAwaited = awaited.remove(request)
      if (isAwaited) limit.cancelled()
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
