package sparkkinesis.simulator

import java.time.Instant

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client.Clock
import sparkkinesis.simulator.service.ShiftedClock

final class ShiftedClockSuite extends AnyFunSuite {
  private final class Unsteady extends Clock {
    var now: Instant = Instant.EPOCH
    override def sleep(duration: FiniteDuration): Unit = now = now.plusNanos(duration.toNanos)
  }

  test("a shifted clock runs with its base, ahead by all advances") {
    val base = new Unsteady
    val clock = new ShiftedClock(base)
    clock.advance(2.hours)
    clock.advance(1.hour)
    clock.sleep(5.minutes)
    assert(clock.now === Instant.EPOCH.plusSeconds(3 * 3600 + 300))
  }

  test("a shifted clock never goes back, whatever its base does") {
    val base = new Unsteady
    val clock = new ShiftedClock(base)
    base.now = Instant.ofEpochSecond(100)
    assert(clock.now === Instant.ofEpochSecond(100))
    base.now = Instant.ofEpochSecond(40)
    assert(clock.now === Instant.ofEpochSecond(100))
    clock.advance(90.seconds)
    assert(clock.now === Instant.ofEpochSecond(130))
    assertThrows[IllegalArgumentException](clock.advance(-1.nanos))
  }
}
