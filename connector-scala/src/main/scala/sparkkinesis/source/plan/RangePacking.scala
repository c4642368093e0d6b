package sparkkinesis.source.plan

import scala.collection.mutable

import sparkkinesis.shard.ShardRange

/**
 * Packs ranges into few tasks, because a task costs more than a small range, and cuts large ranges
 * if the user wants more tasks. The same arguments always give the same tasks.
 */
private[sparkkinesis] object RangePacking {

  /**
   * @param maxTasks number of tasks that can run at the same time; `minTasks` if that is larger
   * @param minTasks least number of tasks, if there are enough marks at which to cut
   * @return for each task, its preferred place and its ranges in order
   */
  def pack[P](
      ranges: Vector[LocatedRange[P]],
      maxTasks: Int,
      minTasks: Int = 1
  ): Seq[(Option[P], Seq[ShardRange])] = {
    val most = math.max(1, math.max(maxTasks, minTasks))
    val places = atMost(most, byPlace(cut(ranges, minTasks)))
    val tasks = shares(places.map(weightOf), places.map(_.size), most)
    places.zip(tasks).flatMap { case (loads, tasks) =>
      val place = loads.maxBy(load => (load.weight, -load.index)).place
      balanced(loads, tasks)(_.weight).map(task => place -> task.map(_.located.range))
    }
  }

  /** Packs ranges of unknown sizes into at most `maxTasks` tasks: as many into each, in order. */
  def evenly[A](ranges: Vector[A], maxTasks: Int): Vector[Vector[A]] =
    balanced(ranges, math.min(ranges.size, maxTasks))(_ => 1)

  /** @param index in the order of all loads */
  private final case class Load[P](index: Int, located: LocatedRange[P]) {
    def weight: Long = located.weight
    def place: Option[P] = located.place
  }

  private def cut[P](ranges: Vector[LocatedRange[P]], minTasks: Int): Vector[Load[P]] = {
    val parts =
      if (ranges.size >= minTasks) ranges.map(_ => 1)
      else shares(ranges.map(_.weight), ranges.map(_.mostParts), minTasks)
    val pieces = ranges.zip(parts).flatMap { case (range, count) => range.cut(count) }
    pieces.zipWithIndex.map { case (piece, index) => Load(index, piece) }
  }

  private def byPlace[P](loads: Vector[Load[P]]): Vector[Vector[Load[P]]] =
    loads.groupBy(_.place).values.toVector.sortBy(_.head.index)

  /**
   * Packs into at most so many tasks. If there are more places than tasks, several places share a
   * task.
   */
  private def atMost[P](
      most: Int,
      places: Vector[Vector[Load[P]]]
  ): Vector[Vector[Load[P]]] =
    if (places.size <= most) places
    else balanced(places, most)(weightOf).map(_.flatten.sortBy(_.index))

  private def weightOf(loads: Vector[Load[_]]): Long =
    loads.foldLeft(0L)((sum, load) => sum + load.weight)

  /**
   * Distributes `total` over items: at least 1 for each item, at most its `most`, and each of the
   * rest to the item with the heaviest shares.
   */
  private[source] def shares(
      weights: Vector[Long],
      most: Vector[Int],
      total: Int
  ): Vector[Int] = {
    val counts = Array.fill(weights.size)(1)
    val heaviest = mutable.PriorityQueue.empty[(Long, Int)]
    def offer(index: Int): Unit =
      if (counts(index) < most(index))
        heaviest.enqueue((weights(index) / counts(index), -index))
    if (total > weights.size) weights.indices.foreach(offer)
    var left = total - weights.size
    while (left > 0 && heaviest.nonEmpty) {
      val index = -heaviest.dequeue()._2
      counts(index) += 1
      offer(index)
      left -= 1
    }
    counts.toVector
  }

  /**
   * Puts each item, the heaviest first, into the lightest bin. Keeps the original order in each
   * bin.
   */
  private[source] def balanced[A](all: Vector[A], bins: Int)(
      weight: A => Long
  ): Vector[Vector[A]] = {
    val lightest = mutable.PriorityQueue.empty[(Long, Int)](
      Ordering[(Long, Int)].on[(Long, Int)] { case (sum, bin) => (-sum, bin) }
    )
    for (bin <- 0 until bins) lightest.enqueue((0L, -bin))
    val filled = Array.fill(bins)(Vector.newBuilder[(A, Int)])
    all.zipWithIndex.sortBy { case (one, index) => (-weight(one), index) }.foreach {
      case (one, index) =>
        val (sum, bin) = lightest.dequeue()
        filled(-bin) += (one -> index)
        lightest.enqueue((sum + weight(one), bin))
    }
    filled.toVector.map(_.result().sortBy(_._2).map(_._1)).filter(_.nonEmpty)
  }
}
