package sparkkinesis.bench.measure

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.bench.measure.WriteSpeed.Point

class WriteSpeedSuite extends AnyFunSuite {

  /** A look every 100 ms, with that many megabytes, and half a second of CPU per second. */
  private def points(megabytes: Double*): Seq[Point] = megabytes.zipWithIndex.map { case (it, n) =>
    Point(7 + n * 100000000L, 5000 + (it * 1e6).toLong, n * 50000000L)
  }

  test("the ramp begins with the first record, and the steady state ends with the last") {
    val speed = WriteSpeed.of(points(0, 0, 0, 1, 2, 12, 22, 32, 32, 32), 200.millis)
    assert(speed === WriteSpeed(ramp = 10, steady = 100, cpu = 5))
  }

  test("a write that ends during the ramp has the figures of the whole write") {
    val speed = WriteSpeed.of(points(0, 5, 10, 10), 1.second)
    assert(speed === WriteSpeed(ramp = 50, steady = 50, cpu = 10))
  }
}
