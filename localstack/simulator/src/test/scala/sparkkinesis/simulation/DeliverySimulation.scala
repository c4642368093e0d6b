package sparkkinesis.simulation

import scala.util.control.NonFatal

import org.scalatest.funsuite.AnyFunSuite

/** The promises of the source over many seeded histories. `SEED=n` replays one. */
class DeliverySimulation extends AnyFunSuite {
  private val seeds: Seq[Long] =
    sys.env.get("SEED").map(_.toLong).fold((1L to 1000L).toList)(List(_))

  test(
    "no loss, no duplicate across committed batches, order per key, no child beside its parent"
  ) {
    val rows = seeds.map { seed =>
      try check(seed)
      catch {
        case NonFatal(e) => fail(s"history failed: replay with SEED=$seed (${e.getMessage})", e)
      }
    }
    info(s"${seeds.size} histories, ${rows.sum} rows")
    assert(rows.sum > 0)
  }

  private def check(seed: Long): Int = {
    val history = new History(seed)
    val (batches, written) = history.run()
    val ancestors = history.ancestors
    batches.foreach { batch =>
      val related = batch.shards.filter(ancestors(_).exists(batch.shards))
      require(related.isEmpty, s"children beside their ancestors: $related in ${batch.shards}")
    }
    val rows = batches.flatMap(_.rows)
    val read = rows.groupMap(_.key)(_.number)
    val twice = batches.zipWithIndex
      .flatMap { case (batch, index) => batch.rows.map(row => row -> index) }
      .groupMap(_._1)(_._2)
      .filter(_._2.size > 1)
    require(twice.isEmpty, s"came twice (row -> batches): $twice")
    written.foreach { case (key, numbers) =>
      val got = read.getOrElse(key, Seq.empty)
      require(numbers.diff(got).isEmpty, s"lost of $key: ${numbers.diff(got)}")
      require(got == numbers, s"out of order: $key came as $got, was written as $numbers")
    }
    require(read.keySet.subsetOf(written.keySet), "records came that nobody wrote since the start")
    rows.size
  }
}
