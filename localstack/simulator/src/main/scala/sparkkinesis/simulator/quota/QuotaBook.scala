package sparkkinesis.simulator.quota

import java.time.Instant
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicLong

import scala.jdk.CollectionConverters._

import sparkkinesis.client.Page
import sparkkinesis.model.StreamArn
import sparkkinesis.simulator.operation._
import sparkkinesis.simulator.record.RecordLog
import sparkkinesis.simulator.state.{Check, Failure, State}

/**
 * What has been used of which limit. What a limit refuses uses nothing of it. What is refused for
 * another reason uses nothing of a shard's throughput, nor of what is counted by the day; a control
 * call is a call, and counts whatever becomes of it.
 *
 * Time is passed in. Safe for use by many threads: each meter changes at once, and those of other
 * shards do not wait. Limits nobody has used lately are not kept, so that shards and streams which
 * are gone leave nothing behind.
 */
private[simulator] final class QuotaBook {
  import QuotaBook._

  private val meters = new ConcurrentHashMap[Key, Meter]
  private val sweepBeyond = new AtomicLong(SweepBeyond)

  /** The outcome of the operation within the limits. */
  def run[A](operation: Operation[A], state: State, now: Instant): Outcome[A] = operation match {
    case writing: Writing[A] =>
      Outcome.of(state, writing.change(state.swept(now), now, admission(now)))
    case control if quota(control).exists(_.countsRefusals) =>
      refusal(control, None, now).fold(answered(control, state, now))(refused(state, _))
    case other =>
      // An operation is a function of the state: what it would answer can be known, and thrown away.
      val outcome = answered(other, state, now)
      val failure = outcome.answer.toOption.flatMap(page => refusal(other, Some(page), now))
      failure.fold(outcome)(refused(state, _))
  }

  /** How many limits are in use. */
  def size: Long = meters.mappingCount

  /** Who uses them. */
  def users: Set[QuotaSubject] = meters.keySet.asScala.map(_.user).toSet

  private def admission(now: Instant): Admission = (stream, shard, entry) => {
    val user = QuotaSubject(stream, Some(shard))
    Option.unless(use(Quota.Writes, user, Check.bytes(entry).toLong, now))(exceeded(user))
  }

  private def quota(operation: Operation[Any]): Option[Quota] =
    Quota.byOperation.get(operation.name)

  private def answered[A](operation: Operation[A], state: State, now: Instant): Outcome[A] = {
    val outcome = operation.run(state, now)
    if (outcome.answer.isRight) forgetDeleted(operation)
    outcome
  }

  private def refused[A](state: State, failure: Failure): Outcome[A] = Outcome(state, Left(failure))

  /** @param answer where it is known already */
  private def refusal(
      operation: Operation[Any],
      answer: Option[Any],
      now: Instant
  ): Option[Failure] =
    for {
      quota <- quota(operation)
      user <- QuotaSubject.of(operation)
      if !use(quota, user, answer.fold(0L)(bytes), now)
    } yield Failure.Refused(quota.code, exceeded(user.within(quota.named)))

  private def use(quota: Quota, user: QuotaSubject, bytes: Long, now: Instant): Boolean = {
    var admitted = false
    meters.compute(
      Key(quota.name, user.within(quota.scope)),
      (_, kept) => {
        val used = Option(kept).getOrElse(quota.fresh(now)).used(bytes, now)
        admitted = used.isDefined
        used.getOrElse(kept)
      }
    )
    if (size > sweepBeyond.get) sweep(now)
    admitted
  }

  /** Done again when there are twice as many as were left, so that it costs little a call. */
  private def sweep(now: Instant): Unit = {
    meters.values.removeIf(_.isFresh(now))
    sweepBeyond.set(math.max(SweepBeyond, 2 * size))
  }

  /** A stream made again under the name is another. */
  private def forgetDeleted(operation: Operation[Any]): Unit = operation match {
    case DeleteStream(stream, _) => forget(stream)
    case RecreateStream(stream) => forget(stream)
    case _ => ()
  }

  private def forget(stream: StreamArn): Unit = {
    meters.keySet.removeIf(_.user.isOf(stream))
    ()
  }
}

private[simulator] object QuotaBook {
  private val SweepBeyond = 1024L

  private final case class Key(limit: String, user: QuotaSubject)

  private def exceeded(user: QuotaSubject): String = s"Rate exceeded for $user."

  private def bytes(answer: Any): Long = answer match {
    case page: Page => RecordLog.bytes(page.records)
    case _ => 0
  }
}
