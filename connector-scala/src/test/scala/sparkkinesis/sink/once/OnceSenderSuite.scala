package sparkkinesis.sink.once

import java.time.Instant

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client.{Clock, Moment}

/** When the right of a task to send ends, by two clocks. */
class OnceSenderSuite extends AnyFunSuite {
  private val noon = Instant.parse("2026-11-22T12:00:00Z")

  private class World {
    var day: Instant = noon
    var steadily = 1000L

    private val clock = new Clock {
      override def now: Instant = day
      override def elapsedMillis: Long = steadily
      override def sleep(duration: FiniteDuration): Unit = ()
    }

    private val sender =
      new OnceSender(WriterIdentity("q", 1, "i", 0, 0, 5), OnceTerms(), clock)

    def hold(millis: Long): Unit = sender.hold(clock.moment, millis)
    def maySend: Boolean = sender.maySend(steadily)
    def mayLeave(sentAt: Long): Boolean = sender.mayLeave(sentAt, steadily)
    def moment: Moment = clock.moment
  }

  test("a right begins with the driver's answer and ends on time") {
    val world = new World
    assert(!world.maySend)
    world.hold(15000)
    world.steadily += 14999
    world.day = noon.plusMillis(14999)
    assert(world.maySend)
    world.steadily += 1
    assert(!world.maySend)
  }

  test("a right ends while the machine is suspended and its steady clock stands still") {
    val world = new World
    world.hold(15000)
    world.day = noon.plusSeconds(15)
    assert(!world.maySend)
  }

  test("a time of day that is set back prolongs nothing") {
    val world = new World
    world.hold(15000)
    world.day = noon.minusSeconds(3600)
    world.steadily += 15000
    assert(!world.maySend)
  }

  test("a request that did not leave for five seconds may not leave, although the right is new") {
    val world = new World
    world.hold(15000)
    val sentAt = world.steadily
    world.steadily += 5000
    assert(world.mayLeave(sentAt))
    world.steadily += 1
    world.hold(15000)
    assert(!world.mayLeave(sentAt) && world.maySend)
  }

  test("a standstill is what the steady clock has missed") {
    val world = new World
    val before = world.moment
    world.day = noon.plusSeconds(60)
    world.steadily += 2000
    assert(world.moment.standstillSince(before) === 58000)
    world.day = noon.minusSeconds(60)
    assert(world.moment.standstillSince(before) === 0)
  }
}
