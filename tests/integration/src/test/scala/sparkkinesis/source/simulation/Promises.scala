package sparkkinesis.source.simulation

/** What must hold of the batches a query has committed. */
final class Promises(world: World, batches: Seq[Batch]) {
  private val read: Map[String, Seq[Int]] = batches.flatMap(_.rows).groupMap(_.key)(_.number)

  def rows: Int = batches.map(_.rows.size).sum

  def noChildBesideParent(): Unit = {
    val ancestors = world.ancestors.withDefaultValue(Set.empty)
    batches.foreach { batch =>
      val related = batch.shards.filter(ancestors(_).exists(batch.shards))
      require(related.isEmpty, s"children beside their ancestors: $related in ${batch.shards}")
    }
  }

  def noneTwice(): Unit = {
    val twice = batches.zipWithIndex
      .flatMap { case (batch, index) => batch.rows.map(_ -> index) }
      .groupMap(_._1.text)(_._2)
      .filter(_._2.size > 1)
    require(twice.isEmpty, s"came twice (row -> batches): $twice")
  }

  /** Exactly these, in this order for each key. */
  def allOf(written: Map[String, Seq[Int]]): Unit = {
    written.foreach { case (key, numbers) =>
      val got = read.getOrElse(key, Seq.empty)
      require(numbers.diff(got).isEmpty, s"lost of $key: ${numbers.diff(got)}")
      require(got == numbers, s"out of order, or too much: $key came as $got, not as $numbers")
    }
    require(read.keySet.subsetOf(written.keySet), "records came that nobody wrote since the start")
  }

  /** At least these, and each key's in the order it was written. */
  def atLeast(kept: Map[String, Seq[Int]]): Unit = {
    kept.foreach { case (key, numbers) =>
      val missing = numbers.diff(read.getOrElse(key, Seq.empty))
      require(missing.isEmpty, s"lost of $key although it is kept: $missing")
    }
    read.foreach { case (key, got) =>
      require(got == got.sorted, s"out of order: $key came as $got")
    }
  }

  /** Of each key its newest records, without a gap: what is missing was trimmed before all of these. */
  def withoutGaps(written: Map[String, Seq[Int]]): Unit =
    written.foreach { case (key, numbers) =>
      val got = read.getOrElse(key, Seq.empty)
      require(numbers.endsWith(got), s"a gap: $key came as $got, and was written as $numbers")
    }
}
