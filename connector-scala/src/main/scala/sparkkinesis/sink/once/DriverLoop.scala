package sparkkinesis.sink.once

import java.time.Instant

import scala.collection.mutable

import sparkkinesis.client.Moment
import sparkkinesis.compat._
import sparkkinesis.model.{SequenceNumber, ShardId}
import sparkkinesis.sink.once.WriterAnswer._
import sparkkinesis.sink.once.WriterAsk._

/**
 * Every decision of the driver about one run of a batch: which attempt of each partition may send,
 * when the log of attempts is checked, and when the stream is read. A state machine without
 * threads, clock and lock. The caller passes the time, carries out the commands, and reports how
 * they ended.
 *
 * One attempt of a partition at a time may send. A later attempt waits until the right of the one
 * before has ended and its last request has taken effect or never will. Then the stream is read.
 * The reasons are in docs/adr/0019-exactly-once.md.
 *
 * @param batch what the records of this run carry; partition and task do not matter
 * @param since no run of the batch has written a record before, by the service's clock
 * @param begun before this run was logged; it was the newest at this time
 * @param begunAt the same or earlier, by the service's clock
 * @param logged after this run was logged: from now on no other run gets the right to send
 */
private[sparkkinesis] final class DriverLoop(
    batch: WriterIdentity,
    since: Instant,
    begun: Moment,
    begunAt: Instant,
    logged: Moment,
    terms: OnceTerms
) {
  import DriverLoop._

  private val start = begun.steady.toEpochMilli
  private val partitions = mutable.Map.empty[Int, Partition]
  private var newest = begun
  private var checkedAt = Option(start) // none while the log is being checked
  private var reading = Set.empty[Class[_]] // one pass of a kind at a time
  private var found = Option.when(batch.run == 0)(Array.emptyByteArray)
  private var ended = Option.empty[OnceException]

  /** Why no attempt may write any more. */
  def failure: Option[OnceException] = ended

  /** Sorted hashes of the rows that earlier runs wrote; none until they are read. */
  def earlierRows: Option[Array[Byte]] = found

  /** Ends the run. Only the first call has an effect. */
  def end(e: OnceException): Unit = if (ended.isEmpty) ended = Some(e)

  /** What is to be done now. To be called several times per second. */
  def tick(now: Moment): Vector[Command] =
    if (ended.nonEmpty) Vector.empty
    else {
      val time = now.steady.toEpochMilli
      val passes = (earlierRuns(time) ++ takeOver(time) ++ recovery).filterNot(isReading)
      reading ++= passes.map(_.getClass)
      check(time) ++ passes.map(Command.Read(_))
    }

  private def isReading(pass: Pass) = reading(pass.getClass)

  private def check(time: Long): Vector[Command] = {
    val isDue = checkedAt.exists(_ + terms.lease.toMillis / ChecksPerLease <= time)
    if (isDue) checkedAt = None
    // A look that hangs has no answer.
    if (checkedAt.isEmpty && isOutOfReach(time)) end(OnceException.logFailed(terms.patience, null))
    if (isDue) Vector(Command.CheckLog) else Vector.empty
  }

  /**
   * The log of attempts was looked at.
   *
   * @param isNewest whether no other attempt has begun; a failure if the log was out of reach
   * @param asked when the look began
   */
  def checked(isNewest: Either[Throwable, Boolean], asked: Moment, now: Moment): Unit = {
    checkedAt = Some(now.steady.toEpochMilli)
    isNewest match {
      case Right(true) => newest = asked
      case Right(false) =>
        end(OnceException.fenced("a later attempt of the batch, or a later batch, has begun"))
      case Left(e) if isOutOfReach(now.steady.toEpochMilli) =>
        end(e match {
          case known: OnceException => known // it says what to do
          case other => OnceException.logFailed(terms.patience, other)
        })
      case Left(_) => () // the next look may succeed
    }
  }

  private def isOutOfReach(time: Long) =
    time - newest.steady.toEpochMilli > terms.patience.toMillis

  /** The requests of earlier runs have had their effect after a while. */
  private def earlierRuns(time: Long): Vector[Pass] =
    if (found.nonEmpty || time < logged.steady.toEpochMilli + terms.silence.toMillis) Vector.empty
    else Vector(EarlierRuns(batch, since.minusMillis(terms.margin.toMillis)))

  /** Attempts that wait to succeed others, if a pass is due for some of them. */
  private def takeOver(time: Long): Vector[Pass] = {
    val waiting = partitions.filter { case (_, it) => it.isWaiting(time) }
    val (due, later) = waiting.partition { case (_, it) => dueAt(it) <= time }
    // Attempts that wait for the same lost executor are served by one pass.
    val gathers = due.values.forall(dueAt(_) > time - Gathering) &&
      later.values.exists(dueAt(_) <= time + Gathering)
    if (due.isEmpty || gathers) Vector.empty
    else {
      val holders = due.map { case (number, it) => number -> it.holder }.toMap
      Vector(TakeOver(batch, before(due.values.map(_.firstAt).min), holders))
    }
  }

  private def dueAt(partition: Partition) = partition.heldUntil + terms.acceptance.toMillis

  private def recovery: Vector[Pass] = {
    val asking = for {
      it <- partitions.values.toVector if it.newestTask == it.holder
      (question, askedAt) <- it.question
      age = question.shards.foldLeft(0L)((age, shard) => math.max(age, shard.ageMillis))
    } yield question -> math.max(it.firstAt, askedAt - age)
    if (asking.isEmpty) Vector.empty
    else Vector(Recovery(batch, before(asking.map(_._2).min), asking.map(_._1)))
  }

  /** A margin before that time, by the service's clock. */
  private def before(time: Long) =
    begunAt.plusMillis(time - start - terms.margin.toMillis)

  /** A pass has ended. */
  def read(result: Found): Unit = {
    reading -= result.pass.getClass
    result.pass match {
      case _: EarlierRuns => found = Some(result.rows)
      case TakeOver(_, _, holders) =>
        // Nobody could write since the pass began, whichever attempt is the newest now.
        for ((number, holder) <- holders; it = partitions(number) if it.holder == holder)
          it.succeed(result.rowsOf(number))
      case Recovery(_, _, questions) =>
        for (asked <- questions; it = partitions(asked.partition) if it.isAsking(asked))
          it.answer(asked.number, result.digestsOf(asked))
    }
  }

  /** A task asks. */
  def asked(ask: WriterAsk, now: Moment): WriterAnswer = ended.fold(answer(ask, now))(refused)

  private def answer(ask: WriterAsk, now: Moment): WriterAnswer = {
    val time = now.steady.toEpochMilli
    val partition = partitions.getOrElseUpdate(ask.partition, new Partition(ask.task, time))
    ask match {
      case _ if ask.task < partition.newestTask =>
        refused(OnceException.fenced(s"partition ${ask.partition} has a later attempt"))
      case _: Hold if ask.task > partition.holder =>
        partition.newestTask = ask.task
        partition.askedAt = time
        NotYet
      case Hold(_, _, isFirst) => hold(partition, isFirst, now)
      case question: Recover => partition.recover(question, time)
      case finish: Finish =>
        partition.finish = Some(finish)
        Finished
    }
  }

  private def refused(e: OnceException) = Refused(e.condition, e.getMessage)

  /** Time for which the driver's clock stood still makes a right shorter. */
  private def hold(partition: Partition, isFirst: Boolean, now: Moment): WriterAnswer = {
    val time = now.steady.toEpochMilli
    val until =
      newest.steady.toEpochMilli + terms.lease.toMillis - now.standstillSince(newest)
    if (until <= time) NotYet
    else {
      partition.heldUntil = math.max(partition.heldUntil, until)
      Held(until - time, if (isFirst) partition.rows else Array.emptyByteArray)
    }
  }

  /**
   * Checks the batch after all tasks have finished.
   *
   * @throws OnceException if it lacks rows that earlier runs wrote, or has more of them
   */
  def checkEnd(): Unit = {
    ended.foreach(throw _)
    val earlier = found.fold(0L)(_.length.toLong / Hash128.Bytes)
    val missing = earlier - finished.map(_.skipped).sum
    if (missing > 0) throw OnceException.notDeterministic(missing, "batch")
    if (missing < 0) throw OnceException.takenTwice(-missing)
  }

  /** The total of all rows of the batch, after all tasks have finished. */
  def total: RowTotal = finished.map(_.total).foldLeft(RowTotal.Zero)(_ + _)

  private def finished = partitions.values.toSeq.flatMap(_.finish)
}

private[sparkkinesis] object DriverLoop {
  private val ChecksPerLease = 5L

  /**
   * How long a waiting attempt may be silent, in milliseconds. It asks several times per second.
   * Nothing is read for one that has ended.
   */
  private val MostSilence = 30000L

  /** How long a pass waits for others that are due soon, in milliseconds. */
  private val Gathering = 5000L

  sealed trait Command

  object Command {

    /** Look whether the run is the newest, and report it to `checked`. */
    case object CheckLog extends Command

    /** Read the stream, and report what is there to `read`. */
    final case class Read(pass: Pass) extends Command
  }

  /** A look into the stream, and whom it serves. */
  sealed trait Pass extends Look

  /** What earlier runs of the batch have written. */
  final case class EarlierRuns(batch: WriterIdentity, from: Instant) extends Pass {
    override def needs(writer: WriterIdentity): Boolean =
      writer.isSameBatch(batch) && writer.run < batch.run
  }

  /**
   * What earlier attempts of partitions have written in this run.
   *
   * @param holders the attempts that had the right to send, by partition
   */
  final case class TakeOver(batch: WriterIdentity, from: Instant, holders: Map[Int, Long])
      extends Pass {
    override def needs(writer: WriterIdentity): Boolean =
      writer.isSameBatch(batch) && writer.run == batch.run && holders.contains(writer.partition)
  }

  /** What attempts that still run ask about: whole aggregates. */
  final case class Recovery(batch: WriterIdentity, from: Instant, questions: Seq[Recover])
      extends Pass {
    private val tasks = questions.map(it => it.partition -> it.task).toSet

    override def needs(writer: WriterIdentity): Boolean =
      writer.isSameBatch(batch) && writer.run == batch.run &&
        tasks(writer.partition -> writer.task)

    override def needsRows: Boolean = false

    override val shards: Option[Map[ShardId, Option[SequenceNumber]]] =
      Some(questions.flatMap(_.shards).groupMap(_.shard)(_.after).map { case (shard, after) =>
        shard -> (if (after.contains(None)) None else after.flatten.minOption)
      })
  }

  /**
   * What a pass has found. It sorts millions of hashes, so it is made outside of the lock by which
   * the loop is guarded.
   */
  final class Found(val pass: Pass, aggregates: Seq[FoundAggregate]) {
    private val byPartition = aggregates.groupBy(_.writer.partition)

    private val byHolder = pass match {
      case TakeOver(_, _, holders) =>
        holders.map { case (number, _) => number -> sorted(of(number)) }
      case _ => Map.empty[Int, Array[Byte]]
    }

    private[DriverLoop] val rows = pass match {
      case _: EarlierRuns => sorted(aggregates)
      case _ => Array.emptyByteArray
    }

    private[DriverLoop] def rowsOf(partition: Int) = byHolder(partition)

    private[DriverLoop] def digestsOf(asked: Recover) =
      of(asked.partition).filter(_.writer.task == asked.task).map(_.digest)

    private def of(partition: Int) = byPartition.getOrElse(partition, Nil)

    private def sorted(all: Seq[FoundAggregate]) = SortedHashes.of(all.map(_.rows))
  }

  /**
   * A partition.
   *
   * @param first attempt
   * @param firstAt when it asked first
   */
  private final class Partition(first: Long, val firstAt: Long) {
    var holder: Long = first
    var newestTask: Long = first
    var askedAt: Long = Long.MinValue / 2
    var heldUntil: Long = Long.MinValue / 2
    var rows: Array[Byte] = Array.emptyByteArray
    var finish: Option[Finish] = None
    var question: Option[(Recover, Long)] = None // and when it was asked
    private var recovered = Option.empty[(Long, Seq[Hash128])]

    def isWaiting(time: Long): Boolean = newestTask > holder && time - askedAt <= MostSilence

    /** The predecessor may have finished. What it skipped counts until the successor finishes. */
    def succeed(found: Array[Byte]): Unit = {
      holder = newestTask
      rows = found
      question = None
      recovered = None
    }

    def recover(asked: Recover, time: Long): WriterAnswer =
      recovered.filter(_._1 == asked.number) match {
        case Some((_, digests)) => Recovered(Hash128.encode(digests))
        case None =>
          val last = (question.map(_._1.number) ++ recovered.map(_._1)).foldLeft(0L)(math.max)
          if (asked.number > last) question = Some(asked -> time)
          NotYet
      }

    def isAsking(asked: Recover): Boolean =
      question.exists { case (it, _) => it.task == asked.task && it.number == asked.number }

    def answer(number: Long, digests: Seq[Hash128]): Unit = {
      question = None
      recovered = Some(number -> digests)
    }
  }
}
