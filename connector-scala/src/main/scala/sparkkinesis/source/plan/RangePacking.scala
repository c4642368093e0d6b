package sparkkinesis.source.plan

import scala.collection.mutable

import sparkkinesis.source.protocol.ShardRange

/**
 * Packs ranges into few tasks, as a task costs more than a small range does, and cuts large ranges where
 * more tasks are wanted. A function: the same tasks from the same arguments.
 */
object RangePacking {

  /**
   * @param chains ranges to be read one after the other, by one task; only one that stands alone is cut
   * @param maxTasks as many as can run at once; or `minTasks`, where that is more
   * @param minTasks wanted, where there are marks enough to cut at
   * @return the ranges of each task in their order, and the place of the heaviest
   */
  def pack[P](
      chains: Seq[Vector[LocatedRange[P]]],
      maxTasks: Int,
      minTasks: Int = 1
  ): Seq[(Option[P], Seq[ShardRange])] = {
    val most = math.max(1, math.max(maxTasks, minTasks))
    val places = atMost(most, byPlace(cut(chains.toVector, minTasks)))
    val tasks = shares(places.map(weightOf(_)(_.weight)), places.map(_.size), most)
    places.zip(tasks).flatMap { case (loads, tasks) =>
      val place = loads.maxBy(load => (load.weight, -load.index)).place
      balanced(loads, tasks)(_.weight).map(load => place -> load.flatMap(_.ranges.map(_.range)))
    }
  }

  /** @param index of its place in the order of all */
  private final case class Load[P](index: Int, ranges: Vector[LocatedRange[P]]) {
    val weight: Long = weightOf(ranges)(_.weight)

    /** Of the heaviest range that has one: a chain may have been read by several executors. */
    def place: Option[P] = ranges.filter(_.place.nonEmpty).maxByOption(_.weight).flatMap(_.place)
  }

  private def cut[P](
      chains: Vector[Vector[LocatedRange[P]]],
      minTasks: Int
  ): Vector[Load[P]] = {
    def partsOf(chain: Vector[LocatedRange[P]]) =
      if (chain.size == 1) chain.head.mostParts else 1
    val parts =
      if (chains.size >= minTasks) chains.map(_ => 1)
      else shares(chains.map(weightOf(_)(_.weight)), chains.map(partsOf), minTasks)
    val pieces = chains.zip(parts).flatMap { case (chain, count) =>
      if (count == 1) Vector(chain) else chain.head.cut(count).map(Vector(_))
    }
    pieces.zipWithIndex.map { case (ranges, index) => Load(index, ranges) }
  }

  private def byPlace[P](loads: Vector[Load[P]]): Vector[Vector[Load[P]]] =
    loads.groupBy(_.place).values.toVector.sortBy(_.head.index)

  /** With more places than tasks, several share one. */
  private def atMost[P](
      most: Int,
      places: Vector[Vector[Load[P]]]
  ): Vector[Vector[Load[P]]] =
    if (places.size <= most) places
    else balanced(places, most)(weightOf(_)(_.weight)).map(_.flatten.sortBy(_.index))

  private def weightOf[A](all: Vector[A])(weight: A => Long): Long =
    all.foldLeft(0L)((sum, one) => sum + weight(one))

  /**
   * How many of `total` each one gets: one at least, its most at most, and of the rest each the one
   * whose shares are heaviest.
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

  /** The heaviest first, each to the lightest of so many bins; in each bin in their own order. */
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
