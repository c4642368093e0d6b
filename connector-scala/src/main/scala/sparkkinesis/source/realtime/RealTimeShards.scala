package sparkkinesis.source.realtime

import scala.collection.mutable
import scala.concurrent.duration._

import sparkkinesis.client.Clock
import sparkkinesis.compat._
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{ChildShard, StreamShard}
import sparkkinesis.source.protocol._

/**
 * The shards that tasks of a real-time query read on this executor. Between two batches a shard is
 * parked: it is read on, so that the task of the next batch continues with the page that follows.
 * Safe for many threads.
 */
private[sparkkinesis] final class RealTimeShards(clock: Clock) {
  import RealTimeShards._

  private val shards = mutable.Map.empty[StreamShard, Held]
  private var generations = 0L
  private var version = 1L
  private var turns = 0L
  private var endedBatch = 0L
  private var isClosed = false
  private var usedAt = clock.elapsedMillis

  /**
   * A task begins to read these shards. Where its position is that at which the last task has
   * ended, it continues with the pages that are here. Otherwise the shard is read again from there.
   *
   * @return `false` if no shard is read here any more
   * @throws IllegalStateException if a newer task reads one of the shards
   */
  def begin(task: Task, starts: Seq[RealTimeStart]): Boolean = synchronized {
    usedAt = clock.elapsedMillis
    if (!isClosed) {
      val taken = starts.flatMap(start => shards.get(start.shard)).flatMap(_.task)
      if (taken.exists(_.isNewerThan(task))) throw new IllegalStateException(Taken)
      starts.foreach { start =>
        val parked = shards.get(start.shard).filter { held =>
          held.task.isEmpty && held.continuesAt == start.from
        }
        hold(task, parked.getOrElse(assigned(start)))
      }
      notifyAll()
    }
    !isClosed
  }

  /** The pages of the shard are not in the store any more: it is read again from the position. */
  def restart(task: Task, start: RealTimeStart): Unit = synchronized {
    if (shards.get(start.shard).exists(_.isOf(task))) hold(task, assigned(start))
  }

  private def hold(task: Task, held: Held): Unit = {
    shards.get(held.assignment.shard).foreach(_.task = None) // an older task fails
    held.task = Some(task)
    held.takenAt = 0
    held.ended = None
    shards.update(held.assignment.shard, held)
    task.held = task.held.updated(held.assignment.shard, held)
  }

  private def assigned(start: RealTimeStart) = {
    generations += 1
    version += 1
    new Held(Assignment(start.shard, generations, start.from, start.completeAsOf))
  }

  /** A page is in the store, or an empty one was read. */
  def report(it: FetchReport): Unit = synchronized {
    shards.get(it.shard).filter(_.assignment.generation == it.generation).foreach { held =>
      held.reported(it)
      if (it.marks.nonEmpty) notifyAll()
    }
  }

  /**
   * The next page of any shard of the task. In order per shard, and from each shard in turn.
   *
   * @param deadline in milliseconds of the clock
   * @return `None` after the deadline, or when the driver has ended the task's batch
   * @throws IllegalStateException if no more pages will come here, so that Spark runs the task
   *   again
   */
  def next(task: Task, deadline: Long): Option[FetchReport] = synchronized {
    usedAt = clock.elapsedMillis
    // The task has handed out the page that it took before.
    task.taken.foreach(_.lent = None)
    task.taken = None
    var found = if (isEnded(task.batch)) None else take(task)
    var rest = deadline - clock.elapsedMillis
    while (found.isEmpty && !isEnded(task.batch) && rest > 0) {
      clock.await(this, rest)
      found = if (isEnded(task.batch)) None else take(task)
      rest = deadline - clock.elapsedMillis
    }
    found
  }

  private def take(task: Task): Option[FetchReport] = {
    if (isClosed) throw new IllegalStateException("Reading on this executor has stopped.")
    if (!task.held.values.forall(_.isOf(task))) throw new IllegalStateException(Taken)
    task.held.values.filter(_.unread.nonEmpty).minByOption(_.takenAt).map { held =>
      turns += 1
      held.takenAt = turns
      held.lent = Some(held.unread.dequeue())
      task.taken = Some(held)
      held.lent.get
    }
  }

  /** Whether the driver has ended the batch. */
  def isEnded(batch: Long): Boolean = synchronized(batch <= endedBatch)

  /** The driver has ended this batch. */
  def end(batch: Long): Unit = synchronized {
    if (batch > endedBatch) {
      endedBatch = batch
      notifyAll()
    }
  }

  /** The task has read a shard to its end. */
  def finished(task: Task, shard: StreamShard, children: Seq[ChildShard]): Unit = synchronized {
    shards
      .get(shard)
      .filter(_.isOf(task))
      .foreach(_.ended = Some(FinishedShard(task.batch, children)))
  }

  /**
   * What is known of the shard, for the end of a batch.
   *
   * @return also whether the tasks have taken all its pages
   */
  def state(shard: StreamShard): Option[(RealTimeShardState, Boolean)] = synchronized {
    shards.get(shard).map(held => held.state -> held.unread.isEmpty)
  }

  /**
   * The task has ended. A page that it has not handed out to the end is left for the next one.
   *
   * @param positions up to where it has handed out each shard
   */
  def release(task: Task, positions: Map[StreamShard, Progress]): Unit = synchronized {
    usedAt = clock.elapsedMillis
    for ((shard, held) <- task.held if held.isOf(task)) held.park(positions(shard), usedAt)
  }

  /** The shards that are held here. */
  def states: Map[StreamShard, RealTimeShardState] = synchronized {
    shards.map { case (shard, held) => shard -> held.state }.toMap
  }

  /** The shards that tasks have read to the end. */
  def ended: Map[StreamShard, FinishedShard] = synchronized {
    val all = for ((shard, held) <- shards.iterator; end <- held.ended) yield shard -> end
    all.toMap
  }

  /** Whether a task reads the shard here. */
  def isActive(shard: StreamShard): Boolean = synchronized {
    shards.get(shard).exists(_.task.nonEmpty)
  }

  /** Gives up shards that other executors read now. */
  def giveUp(elsewhere: Set[StreamShard]): Unit = synchronized {
    drop(elsewhere.filter(shards.get(_).exists(_.task.isEmpty)))
  }

  /** These shards are listed as closed. */
  def foundClosed(closed: Set[StreamShard]): Unit = synchronized {
    closed.flatMap(shards.get).filterNot(_.assignment.isClosed).foreach { held =>
      held.assignment = held.assignment.copy(isClosed = true)
      version += 1
    }
  }

  /** Shards without a task for a while are not read any more. */
  def tick(): Unit = synchronized {
    drop(shards.collect {
      case (shard, held) if held.task.isEmpty && isPast(held.parkedAt, MostParked) => shard
    }.toSet)
  }

  private def drop(gone: Set[StreamShard]): Unit =
    if (gone.nonEmpty) {
      shards --= gone
      version += 1
    }

  /** Closes this if no task has needed it for a long time. */
  def closeIfUnused(): Boolean = synchronized {
    if (shards.isEmpty && isPast(usedAt, MostUnused)) isClosed = true
    isClosed
  }

  private def isPast(millis: Long, limit: FiniteDuration) =
    clock.elapsedMillis - millis > limit.toMillis

  /** The version of the plan, and the plan if it is newer than the known version. */
  def plan(knownVersion: Long): (Long, Option[FetchPlan]) = synchronized {
    version -> Option.when(knownVersion != version) {
      val assignments = shards.values.map(_.assignment).toVector.sortBy(_.shard)
      FetchPlan(assignments, Map.empty, shards.size)
    }
  }

  /** Tasks that wait fail, and Spark runs them again. */
  def close(): Unit = synchronized {
    isClosed = true
    notifyAll()
  }

  /** Whether `begin` returns `false`. */
  def hasClosed: Boolean = synchronized(isClosed)
}

private[sparkkinesis] object RealTimeShards {
  private val Taken = "A newer task reads the shards of this task."

  /** The next batch begins within a second, if the driver runs. Later, pages are read again. */
  private val MostParked = 10.seconds
  private val MostUnused = 60.seconds

  /**
   * An attempt to run a task, compared by identity.
   *
   * @param batch of the task, which the driver may end
   * @param attempt a number that is larger for each later attempt
   */
  final class Task(val batch: Long, val attempt: Long) {
    private[RealTimeShards] var held = Map.empty[StreamShard, Held]
    private[RealTimeShards] var taken: Option[Held] = None // of which it hands out a page

    private[RealTimeShards] def isNewerThan(that: Task): Boolean =
      batch > that.batch || batch == that.batch && attempt > that.attempt
  }

  private[RealTimeShards] final class Held(var assignment: Assignment) {
    var task: Option[Task] = None
    var continuesAt: Progress = assignment.from
    val unread: mutable.Queue[FetchReport] = mutable.Queue.empty[FetchReport]
    var lent: Option[FetchReport] = None // the page that the task hands out
    var takenAt = 0L // when that was, in turns
    var parkedAt = 0L
    var ended: Option[FinishedShard] = None
    private var (millisBehind, completeAsOf, reports) = (0L, 0L, 0L)

    def isOf(that: Task): Boolean = task.exists(_ eq that)

    def state: RealTimeShardState =
      RealTimeShardState(millisBehind, completeAsOf, reports, task.nonEmpty, waitingSince)

    private def waitingSince: Option[Long] =
      lent.orElse(unread.headOption).flatMap(_.marks.headOption).map(_.firstArrivalMillis)

    def reported(it: FetchReport): Unit = {
      millisBehind = it.millisBehindLatest
      completeAsOf = math.max(completeAsOf, it.completeAsOfMillis)
      reports += 1
      if (it.marks.nonEmpty) unread.enqueue(it)
    }

    def park(position: Progress, now: Long): Unit = {
      unread.prependAll(lent.filter(_.marks.last.upTo != position).toSeq)
      lent = None
      task = None
      continuesAt = position
      parkedAt = now
    }
  }
}
