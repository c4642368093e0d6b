package sparkkinesis.source.query

import org.scalatest.funsuite.AnyFunSuite

class ServiceStartsSuite extends AnyFunSuite {
  private def at(second: Long): Long = 2 * second

  /**
   * The seconds at which executor `a` is due, if it never gets a service. Checks once per second.
   */
  private def asks(until: Long): Seq[Long] = {
    var schedule = StartSchedule.Empty
    (0L to until).filter { second =>
      val due = schedule.due(Set("a"), 1, at(second))
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
    assert(schedule.due(Set("a", "b"), 9, at(1)) === Set("b"))
    val found = schedule.asked(Set.empty, Set.empty, at(2))
    assert(found.due(Set("a"), 9, at(3)) === Set("a"))
  }

  test("a service that does not report for 30 s is too silent; a report or another job ends that") {
    val started = StartSchedule.Empty.asked(Set("a"), Set("a"), at(1))
    def silent(looks: (Int, Boolean)*) = looks
      .foldLeft(started) { case (all, (second, isSilent)) => all.looked(at(second), isSilent, -1) }
      .isTooSilent(at(looks.last._1))
    assert(!silent(2 -> true, 32 -> true) && silent(2 -> true, 32 -> true, 33 -> true))
    assert(!silent(2 -> true, 20 -> false, 40 -> true), "a job was running")
    assert(!silent(600 -> true), "the second trigger of a long interval")
    val heard = started.looked(at(2), isSilent = true, -1).looked(at(50), isSilent = true, at(3))
    assert(!heard.isTooSilent(at(50)), "its executor was lost after a report")
  }

  test("there are not more services than needed, and free executors replace busy ones") {
    val all = Set("a", "b", "c", "d", "e")
    val first = StartSchedule.Empty.due(all, 2, at(0))
    assert(first === Set("a", "b"))
    val schedule = StartSchedule.Empty.asked(first, all, at(0))
    assert(schedule.due(all, 2, at(2)).isEmpty, "they are starting")
    assert(schedule.due(all - "a", 1, at(4)) === Set("c"), "b is busy")
    assert(schedule.due(all, 0, at(4)).isEmpty && schedule.due(all, -1, at(4)).isEmpty)
  }
}
