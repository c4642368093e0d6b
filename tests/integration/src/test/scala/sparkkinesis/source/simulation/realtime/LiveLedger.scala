package sparkkinesis.source.simulation.realtime

import scala.collection.mutable

import sparkkinesis.model.StreamShard
import sparkkinesis.source.realtime.ReadUpTo
import sparkkinesis.source.simulation.{Batch, Row}

/**
 * The rows that a query in real-time mode has handed out in batches that Spark has logged. What it
 * may hand out again is taken out.
 */
final class LiveLedger {
  private val done = mutable.ArrayBuffer.empty[Batch]
  private val known = mutable.Set.empty[String]
  private var partial = Map.empty[StreamShard, Int] // rows of a record that was not read to its end

  def batches: Seq[Batch] = done.toSeq

  def size: Int = known.size

  def has(row: Row): Boolean = known(row.text)

  def logged(batch: Batch, ends: Seq[ReadUpTo]): Unit = {
    done += batch
    known ++= batch.rows.map(_.text)
    partial = ends.flatMap(end => end.partial.map(end.shard -> _.rows)).toMap
  }

  /** The checkpoint does not say how many rows of a record were read. */
  def restarted(): Unit = {
    partial.foreach { case (shard, rows) =>
      val last = done.flatMap(_.rows).filter(_.shard == shard).takeRight(rows)
      require(last.size == rows, s"$rows rows of a record of $shard were read, but only $last")
      val again = last.map(_.text).toSet
      known --= again
      done.mapInPlace(batch => batch.copy(rows = batch.rows.filterNot(it => again(it.text)))): Unit
    }
    partial = Map.empty
  }
}
