package sparkkinesis.spark.read

import java.time.Instant

import org.scalatest.funsuite.AnyFunSuite

class StartScheduleSuite extends AnyFunSuite {
  private def at(second: Long): Instant = Instant.ofEpochSecond(second)

  /**
   * The seconds at which executor `a` is due, if it never gets a service. Checks once per second.
   */
  private def asks(until: Long): Seq[Long] = {
    var schedule = StartSchedule.Empty
    (0L to until).filter { second =>
      val due = schedule.due(Set("a"), at(second))
      schedule = schedule.asked(due, Set("a"), at(second))
      due.nonEmpty
    }
  }

  test(
    "an executor without a service gets a start at once, then less and less often, but always again"
  ) {
    val pauses = asks(1000).zip(asks(1000).drop(1)).map { case (one, next) => next - one }
    assert(asks(1000).head === 0 && pauses.take(4) === Seq(4, 8, 16, 32))
    assert(pauses.drop(4).nonEmpty && pauses.drop(4).forall(_ == 60))
  }

  test("executors wait independently, and one whose service was lost gets a start at once") {
    val schedule = StartSchedule.Empty.asked(Set("a"), Set("a"), at(0))
    assert(schedule.due(Set("a", "b"), at(1)) === Set("b"))
    val found = schedule.asked(Set.empty, Set.empty, at(2))
    assert(found.due(Set("a"), at(3)) === Set("a"))
  }
}
