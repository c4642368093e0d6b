package sparkkinesis.sink.simulation

import scala.annotation.tailrec
import scala.concurrent.duration._

import sparkkinesis.client.{KinesisException, Page}
import sparkkinesis.model.{ArrivalTimes, Position, Record, ShardId, StreamRef}

/**
 * The laws that hold for the streams at the end of a history.
 *
 *   - Lossless: every row of the attempt that committed is in the stream or a dead letter. This
 *     holds for our source, and for a reader that, like KCL, drops an aggregate with a row that
 *     belongs to another shard.
 *   - A dead letter is in the stream only if it says that it may be.
 *   - Whole, without order: that reader drops no aggregate.
 *   - Nothing foreign: some attempt wrote each row of the stream, with its own key.
 *   - Frugal: no row of an attempt is acknowledged twice. So duplicates come only from a request
 *     whose answer did not confirm all records, from a misplaced aggregate, or from another
 *     attempt.
 *   - Ordered, with `isOrdered`, for both readers: the rows of an attempt and a key begin with the
 *     first row of the key. Each row is followed by the next one, by itself, or by an older one,
 *     for which the same is true. So no reader sees a row before all older ones. A reader that
 *     drops every row that is not newer than all before sees each row once, in order. The rows of
 *     the attempt that committed end with the newest row. Requests that take effect after their
 *     writer gave them up do not count here: without fencing, no protocol prevents that they come
 *     last.
 */
private[simulation] final class SinkOutcome(world: SinkWorld, tasks: Seq[SimulatedTask]) {
  import world._

  def rows: Int = landed.iterator.map(_.rows.size).sum

  /** Number of rows for which [[LingerLaw]] was checked. */
  def judged: Int = tasks.map(_.judged).sum

  /** The events that occurred in the history. */
  def features: Set[String] = Map(
    "late" -> landed.exists(_.isLate),
    "ambiguous" -> landed.exists(it => !it.isAcknowledged),
    "misplaced" -> landed.exists(it => !isWhole(it)),
    "throttled by quota" -> (kinesis.statistics.snapshot.entriesFailed > 0),
    "run again" -> tasks.exists(_.attemptsMade > 1),
    "dead letters" -> tasks.exists(_.deadLetters.nonEmpty)
  ).collect { case (feature, true) => feature }.toSet

  /** All records in the stream, in an order that can be compared. */
  def trace: Seq[String] = landed.iterator.map(it => s"${it.shard} ${it.number} ${it.rows}").toSeq

  def check(): Unit = {
    agenda.clock.advance(ArrivalTimes.Margin) // then all records are visible
    val inStreams = streams.map(stream => stream -> read(stream)).toMap
    same(inStreams)
    require(tasks.forall(_.committed.nonEmpty), "a task never committed")
    val calls = kinesis.statistics.snapshot.calls.getOrElse("PutRecords", 0L) - rivalRequests
    require(calls == reached, s"the service saw $calls requests, $reached were sent")
    require(setup.isOrdered || landed.forall(isWhole), "an aggregate is in two shards")
    readBy("us", landed.toSeq)
    readBy("KCL", landed.toSeq.filter(isWhole))
    frugal()
    val inStream = landed.flatMap(_.rows.map(_.row)).toSet
    val wrong = tasks.flatMap(_.deadLetters).collect { case (row, false) if inStream(row) => row }
    require(wrong.isEmpty, s"dead letters that are in the stream and do not say so: $wrong")
  }

  /** The streams hold the records that the answers named, and no others. */
  private def same(inStreams: Map[StreamRef, Seq[(ShardId, Record)]]): Unit = {
    val expected = landed.map(it => (it.stream, it.shard, it.number) -> it.rows.map(_.row)).toMap
    val found = for {
      (stream, records) <- inStreams.toSeq
      (shard, record) <- records
      key = record.partitionKey.getOrElse("")
      if !key.startsWith("rival")
    } yield (stream, shard, record.sequenceNumber) ->
      FoundRow.of(key, record.data, None).map(_.row)
    require(found.toMap == expected && found.size == landed.size, "the streams hold something else")
  }

  private def isWhole(record: Landed): Boolean = {
    val range = shards(record.stream).range(record.shard)
    record.rows.size == 1 || record.rows.forall(it => range.contains(it.hashKey))
  }

  private def readBy(reader: String, records: Seq[Landed]): Unit = {
    val all = records.flatMap(_.rows.map(_.row)).groupMap(it => (it.task, it.attempt))(identity)
    tasks.foreach { task =>
      val mine = all.getOrElse((task.number, task.committed.get), Nil).groupMap(_.key)(_.number)
      task.rowsOfKeys.foreach { case (key, count) =>
        val dead = task.deadLetters.keys.filter(_.key == key).map(_.number)
        val missing = (0 until count).diff(mine.getOrElse(key, Nil) ++ dead)
        require(missing.isEmpty, s"lost for $reader: $missing of key $key of task ${task.number}")
      }
    }
    if (setup.isOrdered) ordered(reader, records.filterNot(_.isLate))
  }

  private def ordered(reader: String, records: Seq[Landed]): Unit = {
    val sequences = records
      .flatMap(_.rows.map(_.row))
      .groupMap(it => (it.task, it.attempt, it.key))(_.number)
    sequences.foreach { case ((task, attempt, key), numbers) =>
      def found = s"key $key of task $task, attempt $attempt, is read by $reader as $numbers"
      val isInOrder = numbers.zip(-1 +: numbers).forall { case (it, before) => it <= before + 1 }
      require(isInOrder, s"out of order: $found")
      val owner = tasks(task)
      if (owner.committed.contains(attempt))
        require(numbers.last == owner.rowsOfKeys(key) - 1, s"an old row comes last: $found")
    }
  }

  private def frugal(): Unit = {
    val acknowledged = landed.iterator.filter(_.isAcknowledged).flatMap(_.rows).map(_.row).toSeq
    val twice = acknowledged.groupMapReduce(identity)(_ => 1)(_ + _).filter(_._2 > 1).keys
    require(twice.isEmpty, s"acknowledged twice: $twice")
  }

  private def read(stream: StreamRef): Seq[(ShardId, Record)] =
    shards(stream).ids.flatMap { shard =>
      val iterator = patient(kinesis.shardIterator(stream, shard, Position.TrimHorizon))
      @tailrec def more(page: Page, found: Vector[Record]): Vector[Record] = {
        val all = found ++ page.records
        page.next match {
          case Some(next) if !page.isAtTip || page.records.nonEmpty =>
            more(patient(kinesis.getRecords(stream, next, 10000)), all)
          case _ => all
        }
      }
      more(patient(kinesis.getRecords(stream, iterator, 10000)), Vector.empty).map(shard -> _)
    }

  @tailrec private def patient[A](call: => A): A = {
    val answer =
      try Some(call)
      catch { case _: KinesisException.Throttled => None }
    answer match {
      case Some(value) => value
      case None =>
        agenda.clock.advance(1.second)
        patient(call)
    }
  }
}
