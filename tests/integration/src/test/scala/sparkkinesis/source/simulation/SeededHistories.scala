package sparkkinesis.source.simulation

import scala.concurrent.ExecutionContext.global
import scala.concurrent.duration._
import scala.concurrent.{Await, Future}
import scala.util.control.NonFatal

import org.scalatest.Assertions

import sparkkinesis.TestScope

/** Runs seeded histories. A failure names the seed that replays it. */
trait SeededHistories extends Assertions {

  /** Runs histories on all cores: they share nothing. */
  protected def each[A](count: Int)(check: Long => A): Seq[A] = {
    val all = TestScope.seeds(count).map(seed => Future(replayable(seed)(check))(global))
    all.map(Await.result(_, 20.minutes))
  }

  private def replayable[A](seed: Long)(check: Long => A): A =
    try check(seed)
    catch {
      case NonFatal(e) => fail(s"history failed: replay with SEED=$seed (${e.getMessage})", e)
    }
}
