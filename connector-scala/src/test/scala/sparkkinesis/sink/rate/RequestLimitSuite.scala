package sparkkinesis.sink.rate

import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

/** The limit of requests in flight, against servers that answer one request after the other. */
class RequestLimitSuite extends AnyFunSuite {

  /** Tasks send as many requests as they may; returns how long each took, in milliseconds. */
  private def run(limit: RequestLimit, tasks: Int, millis: Long, until: Long): Seq[Long] = {
    val sent = mutable.Queue.empty[(Int, Long)]
    val own = Array.fill(tasks)(0)
    val names = Vector.tabulate(tasks)(n => s"task $n")
    val took = Vector.newBuilder[Long]
    (0L until until).foreach { now =>
      own.indices.foreach { task =>
        while (own(task) < 16 && limit.begin(names(task), now)) {
          own(task) += 1
          sent += task -> now
        }
      }
      if (now % millis == 0) {
        val (task, at) = sent.dequeue()
        own(task) -= 1
        limit.answered(at, now)
        took += now - at
      }
    }
    took.result()
  }

  test("a slow server is asked for less, and answers in a few seconds") {
    Seq(1, 2, 4, 32).foreach { tasks =>
      val took = run(new RequestLimit(writers = 1), tasks, millis = 800, until = 300000)
      assert(took.size === 375, "it is always busy")
      assert(took.max <= 10 * 800)
      assert(took.drop(20).max <= 4 * 800 + 800)
    }
  }

  test("a fast server gets all that the tasks may have in flight") {
    val limit = new RequestLimit(writers = 1)
    run(limit, tasks = 4, millis = 5, until = 5000)
    assert(limit.current >= 63)
  }

  test("a request without an answer halves the limit, once per round trip") {
    val limit = new RequestLimit(writers = 1)
    (1 to 8).foreach(_ => assert(limit.begin("a", 0)))
    assert(!limit.begin("a", 0))
    (1 to 8).foreach(_ => limit.unanswered(0, 30000))
    (1 to 4).foreach(_ => assert(limit.begin("a", 30000)))
    assert(!limit.begin("a", 30000))
  }

  test("executors share the first limit, and each may have one request in flight") {
    Seq(1 -> 8, 4 -> 2, 8 -> 1, 24 -> 1).foreach { case (writers, first) =>
      val limit = new RequestLimit(writers)
      assert((1 to 9).count(_ => limit.begin("a", 0)) === first)
    }
  }

  test("tasks take turns, and a task that asks no more loses its turn") {
    val limit = new RequestLimit(writers = 8)
    val tasks = Seq("a", "b", "c")
    def turn(now: Long, asking: Seq[String]) = asking.filter(limit.begin(_, now))
    val order = (0 to 5).flatMap { n =>
      val sent = turn(n * 20L, tasks)
      limit.cancelled()
      sent
    }
    assert(order === Seq("a", "b", "c", "a", "b", "c"))
    assert(turn(120, tasks) === Seq("a") && turn(140, Seq("c")) === Nil)
    limit.cancelled()
    assert(turn(320, Seq("c")) === Nil, "b goes first")
    assert(turn(321, Seq("c")) === Seq("c"))
  }
}
