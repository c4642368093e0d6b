package sparkkinesis.source.plan

import scala.collection.mutable
import scala.concurrent.duration._

import sparkkinesis.compat._
import sparkkinesis.model.StreamShard
import sparkkinesis.source.protocol.{FetchCounters, FetchFailure, Heartbeat}

/**
 * The executors that report to the driver, and what they have reported in sum.
 *
 * Time passes in ticks. A driver that is suspended, or collects garbage, has no ticks. So it blames
 * no executor for heartbeats that could not arrive.
 *
 * @param lease an executor without a heartbeat for this time is gone
 */
private[sparkkinesis] final class ExecutorTable(lease: FiniteDuration) {
  import ExecutorTable._

  private var now = 0L
  private var known = Map.empty[String, Executor] // by the last heartbeat, also those that are gone
  private var present = Set.empty[String]
  private var heardAt = -1L
  private var sum = FetchCounters.Zero
  private var recent = Recent(FetchCounters.Zero, FetchCounters.Zero, since = 0)
  private val pagesAt = mutable.Map.empty[StreamShard, Long]
  private var failed = Option.empty[FetchFailure]
  private var crashed = Option.empty[String]
  private var stopped = false
  private var told = Set.empty[String] // executors that know of the stop

  /**
   * Notes a heartbeat.
   *
   * @return `false` if another service of the executor has replaced the sender. Spark Connect gives
   *   a session another class loader from time to time, which starts another service.
   */
  def heard(beat: Heartbeat): Boolean = {
    val before = known.get(beat.executor)
    val isOld = before.exists(_.replaced.contains(beat.service))
    if (!isOld) {
      if (before.isEmpty) forgetGone()
      val replaced = before.fold(Vector.empty[String]) { it =>
        if (it.service == beat.service) it.replaced
        else (it.replaced :+ it.service).takeRight(MostReplaced)
      }
      // Counters that became smaller belong to a new service on the executor.
      val counted = before.map(_.counters).filterNot(beat.counters.isBehind)
      sum = sum + beat.counters - counted.getOrElse(FetchCounters.Zero)
      known += beat.executor -> Executor(beat.host, beat.service, now, beat.counters, replaced)
      present += beat.executor
      heardAt = now
      crashed = crashed.orElse(beat.crash)
      if (stopped) told += beat.executor
    }
    !isOld
  }

  /** A query may run for months, on executors that come and go. */
  private def forgetGone(): Unit = known = known.filter { case (id, it) =>
    present(id) || elapsed(it.heardAt) < LongGone
  }

  /** Number of executors that are live or were live during the last hour. */
  def size: Int = known.size

  /** An executor has failed in a way that retries cannot fix. */
  def fails(cause: FetchFailure): Unit = failed = failed.orElse(Some(cause))

  /** A page of a shard was reported, perhaps an empty one. */
  def heardOf(shard: StreamShard): Unit = pagesAt.update(shard, now)

  def lose(executor: String): Unit = present -= executor

  /**
   * Time passes.
   *
   * @return the executors that are gone now
   */
  def tick(): Set[String] = {
    now += 1
    val silent = present.filter(id => elapsed(known(id).heardAt) > lease)
    present --= silent
    silent
  }

  /** Number of ticks so far. */
  def ticks: Long = now

  /** The tick of the last heartbeat of any executor; -1 if there was none. */
  def lastHeard: Long = heardAt

  def live: Set[String] = present

  def host(executor: String): Option[String] =
    known.get(executor).filter(_ => present(executor)).map(_.host)

  /** Sums since the query began; current sizes of the live executors only. */
  def counters: FetchCounters =
    sum.withState(stores)

  /** Only the current sizes of the live executors. */
  def stores: FetchCounters = FetchCounters.state(present.iterator.map(known(_).counters))

  /**
   * Sums over the last one to two minutes, without current sizes; since the query began if that is
   * less, and since the last call if that is more.
   */
  def recentCounters: FetchCounters = {
    if (elapsed(recent.since) >= RecentPeriod) recent = Recent(recent.newer, sum, now)
    sum - recent.older
  }

  /**
   * The time since the last page of each shard; for a shard without any, since the first call that
   * names it.
   *
   * @param shards that are read now; the others are forgotten
   */
  def silences(shards: collection.Set[StreamShard]): Map[StreamShard, FiniteDuration] = {
    pagesAt.keySet.diff(shards).toVector.foreach(pagesAt.remove)
    shards.iterator.map(it => it -> elapsed(pagesAt.getOrElseUpdate(it, now))).toMap
  }

  /** The first failure. */
  def failure: Option[FetchFailure] = failed

  /** Why the service of an executor ended unexpectedly. */
  def crash: Option[String] = crashed

  /** The query stops. Each executor hears of it with the answer to its next heartbeat. */
  def stop(): Unit = stopped = true

  def isStopped: Boolean = stopped

  /** Whether every executor knows of the stop. */
  def allKnowOfStop: Boolean = present.subsetOf(told)

  private def elapsed(since: Long): FiniteDuration = Tick * (now - since)
}

private[sparkkinesis] object ExecutorTable {

  /** The time between two ticks, or more. */
  val Tick: FiniteDuration = 500.millis
  private val RecentPeriod = 1.minute

  /** Its service has ended long before. */
  private val LongGone = 1.hour

  /** Those that may still send something. */
  private val MostReplaced = 100

  /** @param replaced the last services of the executor before this one */
  private final case class Executor(
      host: String,
      service: String,
      heardAt: Long,
      counters: FetchCounters,
      replaced: Vector[String]
  )

  /**
   * @param older sums from which the differences are taken
   * @param newer later sums, which replace `older` after a minute
   */
  private final case class Recent(older: FetchCounters, newer: FetchCounters, since: Long)
}
