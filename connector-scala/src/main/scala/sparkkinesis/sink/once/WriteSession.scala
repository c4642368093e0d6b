package sparkkinesis.sink.once

import scala.collection.mutable

import sparkkinesis.sink.once.WriterAnswer._
import sparkkinesis.sink.once.WriterAsk._

/**
 * The driver's decisions about one run of a batch: which attempt of each partition may send, and
 * when the stream is read for an attempt. A state machine without threads and clock; the caller
 * passes the time in milliseconds and guards it.
 *
 * One attempt of a partition at a time may send. A later attempt waits until the right of the one
 * before has ended and its last request has taken effect or never will. Then the stream is read.
 * The reasons are in docs/adr/0019-exactly-once.md.
 *
 * @param run of the batch
 * @param start the current time; the run is the newest at this time
 */
final class WriteSession(run: Long, terms: OnceTerms, start: Long) {
  import WriteSession._

  private val places = mutable.Map.empty[Int, Place]
  private var newestAt = start
  private var ended = Option.empty[OnceException]

  /** The run was the newest at this time. Rights to send end some time after it. */
  def newest(at: Long): Unit = newestAt = math.max(newestAt, at)

  /** Ends the session, after which no attempt may write. Only the first call has an effect. */
  def end(e: OnceException): Unit = if (ended.isEmpty) ended = Some(e)

  /**
   * @param lost milliseconds for which the driver's clock stood still since the run was the newest;
   *   a right is so much shorter
   */
  def answer(ask: WriterAsk, now: Long, lost: Long = 0): WriterAnswer =
    ended.fold(answerRunning(ask, now, lost))(refused)

  private def answerRunning(ask: WriterAsk, now: Long, lost: Long): WriterAnswer = {
    val place = places.getOrElseUpdate(ask.partition, new Place(ask.task, now))
    ask match {
      case _ if ask.task < place.newestTask =>
        refused(OnceException.fenced(s"partition ${ask.partition} has a later attempt"))
      case _: Hold if ask.task > place.holder => successor(place, ask.task, now)
      case Hold(_, _, isFirst) => hold(place, isFirst, now, lost)
      case Recover(_, _, number) => recover(place, number)
      case finish: Finish =>
        place.finish = Some(finish)
        Finished
    }
  }

  private def refused(e: OnceException) = Refused(e.condition, e.getMessage)

  private def hold(place: Place, isFirst: Boolean, now: Long, lost: Long): WriterAnswer = {
    val until = newestAt + terms.lease.toMillis - lost
    if (until <= now) NotYet
    else {
      place.heldUntil = math.max(place.heldUntil, until)
      Held(until - now, if (isFirst) place.rows else Array.emptyByteArray)
    }
  }

  private def successor(place: Place, task: Long, now: Long): WriterAnswer = {
    place.newestTask = task
    place.askedAt = now
    NotYet
  }

  private def recover(place: Place, number: Long): WriterAnswer =
    if (place.recovered == number) Recovered(Hash128.encode(place.digests))
    else {
      place.recovering = Some(number)
      NotYet
    }

  /** What the stream is to be read for now, if anything. */
  def due(now: Long): Option[Pass] = {
    val waiting = places.filter { case (_, place) => isWaiting(place, now) }
    val (successors, later) = waiting.partition { case (_, place) => dueAt(place) <= now }
    val recoveries = places.filter { case (_, place) =>
      place.newestTask == place.holder && place.recovering.nonEmpty
    }
    val needed = successors.values ++ recoveries.values
    if (recoveries.isEmpty && (successors.isEmpty || gathers(successors.values, later.values, now)))
      None
    else
      Some(
        Pass(
          run,
          successors.map { case (partition, place) => partition -> place.newestTask }.toMap,
          recoveries.map { case (partition, place) => partition -> place.recovering.get }.toMap,
          needed.map(_.firstSince).min
        )
      )
  }

  /** A successor that asks no more has ended: nothing is read for it. */
  private def isWaiting(place: Place, now: Long) =
    place.newestTask > place.holder && now - place.askedAt <= MostSilence

  private def dueAt(place: Place) = place.heldUntil + terms.acceptance.toMillis

  /** Attempts that wait for the same lost executor are served by one pass. */
  private def gathers(due: Iterable[Place], later: Iterable[Place], now: Long) =
    due.forall(dueAt(_) > now - Gathering) && later.exists(dueAt(_) <= now + Gathering)

  /** The stream was read: what it holds of this run, at least of the partitions of the pass. */
  def found(pass: Pass, aggregates: Seq[FoundAggregate]): Unit = {
    val byPartition = aggregates.filter(_.writer.run == run).groupBy(_.writer.partition)
    def of(partition: Int) = byPartition.getOrElse(partition, Nil)
    pass.successors.foreach { case (partition, task) =>
      val place = places(partition)
      if (place.newestTask == task && place.holder < task)
        place.succeed(SortedHashes.of(of(partition).map(_.rows)))
    }
    pass.recoveries.foreach { case (partition, number) =>
      val place = places(partition)
      if (place.recovering.contains(number)) {
        val mine = of(partition).filter(_.writer.task == place.holder)
        place.answer(number, mine.map(_.digest))
      }
    }
  }

  /**
   * Checks the batch after all tasks have finished.
   *
   * @param earlier number of rows that earlier runs wrote
   * @throws OnceException if the batch does not contain all of them
   */
  def checkEnd(earlier: Long): Unit = {
    ended.foreach(throw _)
    val missing = earlier - places.valuesIterator.flatMap(_.finish.iterator).map(_.skipped).sum
    if (missing != 0) throw OnceException.notDeterministic(missing, "batch")
  }

  /** The total of all rows of the batch, after all tasks have finished. */
  def total: RowTotal =
    places.valuesIterator.flatMap(_.finish.iterator).map(_.total).foldLeft(RowTotal.Zero)(_ + _)
}

object WriteSession {

  /**
   * How long a waiting attempt may be silent, in milliseconds. It asks several times per second.
   */
  private val MostSilence = 30000L

  /** How long a pass waits for others that are due soon, in milliseconds. */
  private val Gathering = 5000L

  /**
   * @param since what is needed was not written earlier; on the clock of the session
   * @param successors the attempts that wait to succeed another one, by partition
   * @param recoveries numbers of the questions of attempts, by partition
   */
  final case class Pass(
      run: Long,
      successors: Map[Int, Long],
      recoveries: Map[Int, Long],
      since: Long
  ) {
    private val partitions = successors.keySet ++ recoveries.keySet

    /** Whether an aggregate of that writer is needed. */
    def needs(writer: WriterIdentity): Boolean =
      writer.run == run && partitions(writer.partition)
  }

  /**
   * A partition.
   *
   * @param first attempt
   * @param firstSince when it asked first
   */
  private final class Place(first: Long, val firstSince: Long) {
    var holder: Long = first
    var newestTask: Long = first
    var askedAt: Long = Long.MinValue / 2
    var heldUntil: Long = Long.MinValue / 2
    var rows: Array[Byte] = Array.emptyByteArray
    var finish: Option[Finish] = None
    var recovering: Option[Long] = None
    var recovered: Long = -1L
    var digests: Seq[Hash128] = Nil

    /** The predecessor may have finished. What it skipped counts until the successor finishes. */
    def succeed(found: Array[Byte]): Unit = {
      holder = newestTask
      rows = found
      recovering = None
      recovered = -1
    }

    def answer(number: Long, found: Seq[Hash128]): Unit = {
      recovering = None
      recovered = number
      digests = found
    }
  }
}
