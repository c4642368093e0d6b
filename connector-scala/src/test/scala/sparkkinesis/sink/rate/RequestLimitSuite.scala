package sparkkinesis.sink.rate

import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

/** The limit of requests in flight, against servers that answer one request after the other. */
class RequestLimitSuite extends AnyFunSuite {

  /** Tasks send as many requests as they may; returns how long each took, in milliseconds. */
  private def run(limit: RequestLimit, tasks: Int, millis: Long, until: Long): Seq[Long] = {
    val sent = mutable.Queue.empty[(Int, Long)]
    val own = Array.fill(tasks)(0)
    val took = Vector.newBuilder[Long]
    (0L until until).foreach { now =>
      own.indices.foreach { task =>
        while (own(task) < 16 && limit.begin(own(task))) {
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
    Seq(1, 2, 4).foreach { tasks =>
      val took = run(new RequestLimit, tasks, millis = 800, until = 300000)
      assert(took.size === 375, "it is always busy")
      assert(took.max <= 10 * 800)
      assert(took.drop(20).max <= 4 * 800 + 800)
    }
  }

  test("a fast server gets all that the tasks may have in flight") {
    val limit = new RequestLimit
    run(limit, tasks = 4, millis = 5, until = 5000)
    assert(limit.current >= 63)
  }

  test("a request without an answer halves the limit, once per round trip") {
    val limit = new RequestLimit
    (1 to 8).foreach(_ => assert(limit.begin(1)))
    assert(!limit.begin(1))
    (1 to 8).foreach(_ => limit.unanswered(0, 30000))
    (1 to 4).foreach(_ => assert(limit.begin(1)))
    assert(!limit.begin(1))
  }

  test("a task without a request in flight may always send one") {
    val limit = new RequestLimit
    (1 to 30).foreach(_ => assert(limit.begin(0)))
    assert(!limit.begin(1) && limit.current === 30)
    (1 to 30).foreach(_ => limit.cancelled())
    assert(limit.current === 0)
  }
}
