package sparkkinesis.source.simulation

import scala.util.control.NonFatal

import org.scalatest.funsuite.AnyFunSuite

/**
 * Runs with `Trigger.Once` over many seeded histories: each is one batch, which ends by itself and has
 * exactly what had arrived when it began. `SEED=n` replays one.
 */
class OnceSimulation extends AnyFunSuite {
  private val seeds: Seq[Long] =
    sys.env.get("SEED").map(_.toLong).fold((1L to 300L).toList)(List(_))

  test("one batch a run: all that had arrived, once, in order, children behind their parents") {
    val seen = seeds.map { seed =>
      try new OnceHistory(seed).live()
      catch {
        case NonFatal(e) => fail(s"history failed: replay with SEED=$seed (${e.getMessage})", e)
      }
    }
    info(
      s"${seen.size} histories, ${seen.map(_.rows).sum} rows, ${seen.map(_.chains).sum} chains, " +
        s"pages let go in ${seen.count(_.hasLetGo)} histories"
    )
    if (seen.size > 1) assert(seen.exists(_.chains > 0) && seen.exists(_.hasLetGo))
  }
}
