package sparkkinesis.source

/** Packs ranges into few tasks: a task costs more than a small range does. */
object RangePacking {

  /**
   * @param located each range with the place of its pages
   * @param maxTasks as many as can run at once
   * @return groups of one place each; every range is in exactly one
   */
  def pack[P](
      located: Seq[(ShardRange, Option[P])],
      maxTasks: Int
  ): Seq[(Option[P], Seq[ShardRange])] = {
    val byPlace = located.groupMap { case (_, place) => place } { case (range, _) => range }.toSeq
    val tasksAPlace = math.max(1, maxTasks / math.max(1, byPlace.size))
    byPlace.flatMap { case (place, ranges) =>
      val tasks = math.min(tasksAPlace, ranges.size)
      ranges.zipWithIndex
        .groupMap { case (_, index) => index % tasks } { case (range, _) => range }
        .toSeq
        .sortBy(_._1)
        .map { case (_, packed) => place -> packed }
    }
  }
}
