package sparkkinesis.source.plan

import java.time.Instant

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

class RunningTimeSuite extends AnyFunSuite {
  test("it counts time between frequent calls, and not the time of a suspended process") {
    val running = new RunningTime
    def at(millis: Long) = running.at(Instant.ofEpochMilli(millis))
    assert(at(500) === Duration.Zero)
    assert(at(700) === 200.millis && at(1400) === 900.millis)
    assert(at(31400) === 1900.millis)
    assert(at(31500) === 2.seconds)
    assert(at(31000) === 2.seconds, "it never falls")
    assert(at(31600) === 2100.millis, "no time counts twice")
  }
}
