package sparkkinesis.source.simulation

import scala.concurrent.duration.FiniteDuration

import sparkkinesis.model.{StreamArn, StreamShard}

/** Checks the batches that a query has committed. */
final class Promises(world: World, batches: Seq[Batch]) {
  private val read: Map[String, Seq[Int]] = batches.flatMap(_.rows).groupMap(_.key)(_.number)

  def rows: Int = batches.map(_.rows.size).sum

  def noChildBesideParent(): Unit = {
    val ancestors = world.ancestors.withDefaultValue(Set.empty)
    batches.foreach { batch =>
      val related = batch.shards.filter(ancestors(_).exists(batch.shards))
      require(
        related.isEmpty,
        s"children together with their ancestors: $related in ${batch.shards}"
      )
    }
  }

  def noneTwice(): Unit = {
    val twice = batches.zipWithIndex
      .flatMap { case (batch, index) => batch.rows.map(_ -> index) }
      .groupMap(_._1.text)(_._2)
      .filter(_._2.size > 1)
    require(twice.isEmpty, s"read twice (row -> batches): $twice")
  }

  /**
   * No batch has read a shard further than the oldest record of another one that it left unread,
   * plus the skew, by the arrival times.
   */
  def together(skew: FiniteDuration): Unit =
    batches.foldRight(Map.empty[StreamShard, Long]) { (batch, unread) =>
      val arrivals = batch.rows.groupMap(_.shard)(row => world.arrivalMillis(row.key, row.number))
      for {
        (shard, read) <- arrivals
        (other, oldest) <- unread if other != shard && batch.streams(other.stream)
      } require(
        read.max <= oldest + skew.toMillis,
        s"$shard was read up to ${read.max}, and $other has an unread record of $oldest"
      )
      arrivals.foldLeft(unread) { case (all, (shard, read)) =>
        all.updated(shard, math.min(read.min, all.getOrElse(shard, Long.MaxValue)))
      }
    }: Unit

  /**
   * Spark drops no row as late, if the query has a watermark with this delay on the arrival times.
   * Records of a stream that joins later may be older.
   */
  def noneLate(delay: FiniteDuration): Unit =
    batches.foldLeft(Map.empty[StreamArn, Long]) { (watermarks, batch) =>
      val arrivals = batch.rows.map(row => row.shard -> world.arrivalMillis(row.key, row.number))
      arrivals.foreach { case (shard, arrival) =>
        val watermark = watermarks.getOrElse(shard.stream, Long.MinValue)
        require(arrival >= watermark, s"late in $shard: $arrival, and the watermark is $watermark")
      }
      arrivals.map(_._2).maxOption.fold(watermarks) { last =>
        batch.streams.foldLeft(watermarks) { (all, stream) =>
          all.updated(stream, math.max(last - delay.toMillis, all.getOrElse(stream, Long.MinValue)))
        }
      }
    }: Unit

  /** The query has read exactly these records, in this order per key. */
  def allOf(written: Map[String, Seq[Int]]): Unit = {
    written.foreach { case (key, numbers) =>
      val got = read.getOrElse(key, Seq.empty)
      require(numbers.diff(got).isEmpty, s"lost of $key: ${numbers.diff(got)}")
      require(got == numbers, s"out of order, or too much: $key came as $got, not as $numbers")
    }
    require(
      read.keySet.subsetOf(written.keySet),
      "read records that no producer wrote since the start"
    )
  }

  /**
   * Of each key, the query has read the records that were written first: all of `least`, and no
   * other than those of `most`.
   */
  def between(
      least: Map[String, Seq[Int]],
      most: Map[String, Seq[Int]],
      written: Map[String, Seq[Int]]
  ): Unit = {
    written.foreach { case (key, numbers) =>
      val got = read.getOrElse(key, Seq.empty)
      val (lost, late) = (least(key).diff(got), got.diff(most(key)))
      require(lost.isEmpty, s"omitted of $key: $lost")
      require(late.isEmpty, s"arrived too late: $late of $key")
      require(numbers.startsWith(got), s"a gap: $key came as $got, and was written as $numbers")
    }
    require(read.keySet.subsetOf(written.keySet), "read records that no producer wrote")
  }

  /** The query has read at least these records, in the order of writing per key. */
  def atLeast(retained: Map[String, Seq[Int]]): Unit = {
    retained.foreach { case (key, numbers) =>
      val missing = numbers.diff(read.getOrElse(key, Seq.empty))
      require(missing.isEmpty, s"lost of $key although Kinesis has it: $missing")
    }
    read.foreach { case (key, got) =>
      require(got == got.sorted, s"out of order: $key is $got")
    }
  }

  /** The query has read the newest records of each key, without a gap: only older ones expired. */
  def withoutGaps(written: Map[String, Seq[Int]]): Unit =
    written.foreach { case (key, numbers) =>
      val got = read.getOrElse(key, Seq.empty)
      require(numbers.endsWith(got), s"a gap: $key came as $got, and was written as $numbers")
    }
}
