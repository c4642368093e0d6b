package sparkkinesis.simulator.quota

import java.time.Instant
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicLong

import scala.jdk.CollectionConverters._

import sparkkinesis.client.Page
import sparkkinesis.model.StreamArn
import sparkkinesis.simulator.operation._
import sparkkinesis.simulator.record.RecordLog
import sparkkinesis.simulator.state.{Check, Failure, State, WriteQuota}

/**
 * The meters of all limits. A call that a limit refuses does not count. A read or write that fails
 * for another reason does not count either, nor does a call with a daily limit. Every other control
 * call counts, even if it fails. Some kinds of [[WriteQuota]] count refused records, too.
 *
 * Safe for use by many threads: each meter changes atomically, and shards do not wait for each
 * other. Unused meters are dropped, so that deleted shards and streams leave nothing behind.
 */
private[simulator] final class QuotaMeters(writeQuota: WriteQuota = WriteQuota.Bucket) {
  import QuotaMeters._

  private val writes = Quota.writes(writeQuota)
  private val meters = new ConcurrentHashMap[Key, Meter]
  private val sweepBeyond = new AtomicLong(SweepBeyond)

  /** Runs the operation within the limits. */
  def run[A](operation: Operation[A], state: State, now: Instant): Outcome[A] = operation match {
    case writing: Writing[A] =>
      Outcome.of(state, writing.change(state.resharded(now).swept(now), now, admission(now)))
    case control if quota(control).exists(_.countsRefusals) =>
      refusal(control, None, now).fold(answered(control, state, now))(refused(state, _))
    case other =>
      // An operation is a function of the state, so its result can be discarded.
      val outcome = answered(other, state, now)
      val failure = outcome.answer.toOption.flatMap(page => refusal(other, Some(page), now))
      failure.fold(outcome)(refused(state, _))
  }

  /** The number of meters. */
  def size: Long = meters.mappingCount

  /** What the meters count for. */
  def subjects: Set[QuotaSubject] = meters.keySet.asScala.map(_.user).toSet

  private def admission(now: Instant): Admission = (stream, shard, entry) => {
    val user = QuotaSubject(stream, Some(shard))
    Option.unless(use(writes, user, Check.bytes(entry).toLong, now))(exceeded(user))
  }

  private def quota(operation: Operation[Any]): Option[Quota] =
    Quota.byOperation.get(operation.name)

  private def answered[A](operation: Operation[A], state: State, now: Instant): Outcome[A] = {
    val outcome = operation.run(state, now)
    if (outcome.answer.isRight) forgetDeleted(operation)
    outcome
  }

  private def refused[A](state: State, failure: Failure): Outcome[A] = Outcome(state, Left(failure))

  /** @param answer the result, if it is known already */
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
        val meter = Option(kept).getOrElse(quota.fresh(now))
        val used = meter.used(bytes, now)
        admitted = used.isDefined
        used.getOrElse(meter match {
          case counting: RefusalMeter => counting.refused(bytes, now)
          case other => other
        })
      }
    )
    if (size > sweepBeyond.get) sweep(now)
    admitted
  }

  /** Runs again when the number of meters has doubled, so that the cost per call is small. */
  private def sweep(now: Instant): Unit = {
    meters.values.removeIf(_.isFresh(now))
    sweepBeyond.set(math.max(SweepBeyond, 2 * size))
  }

  /** A stream that is created again starts with fresh meters. */
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

private[simulator] object QuotaMeters {
  private val SweepBeyond = 1024L

  private final case class Key(limit: String, user: QuotaSubject)

  private def exceeded(user: QuotaSubject): String = s"Rate exceeded for $user."

  private def bytes(answer: Any): Long = answer match {
    case page: Page => RecordLog.bytes(page.records)
    case _ => 0
  }
}
