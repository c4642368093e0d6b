package sparkkinesis.client.aws.credentials

import java.time.Instant
import java.util.concurrent.{CountDownLatch, TimeUnit}

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client.Clock
import sparkkinesis.client.access.AwsKeys

class RenewedKeysSuite extends AnyFunSuite {
  private class SetClock(@volatile var now: Instant) extends Clock {
    override def sleep(duration: FiniteDuration): Unit = fail()
    def pass(duration: FiniteDuration): Unit = now = now.plusMillis(duration.toMillis)
  }

  /** A provider whose nth keys have the ID `KEYn`. */
  private class Fixture(life: Option[FiniteDuration]) {
    val clock = new SetClock(Instant.EPOCH)
    @volatile var calls = 0
    @volatile var trouble: Option[RuntimeException] = None
    @volatile var before: () => Unit = () => ()

    private def fetch(): AwsKeys = {
      calls += 1
      before()
      trouble.foreach(throw _)
      val expiry = life.map(it => clock.now.plusMillis(it.toMillis))
      new AwsKeys(s"KEY$calls", "hush", "token", expiry.orNull)
    }
    val keys = new RenewedKeys("Vault", () => fetch(), clock)
    def id: String = keys.current().accessKeyId

    def idAfter(duration: FiniteDuration): String = {
      clock.pass(duration)
      id
    }
  }

  test("keys of an hour are renewed 5 minutes before they expire") {
    val fixture = new Fixture(Some(1.hour))
    assert(fixture.id === "KEY1")
    assert(fixture.idAfter(55.minutes - 1.milli) === "KEY1")
    assert(fixture.idAfter(1.milli) === "KEY2")
  }

  test("keys of a few minutes are renewed after half of their life") {
    val fixture = new Fixture(Some(2.minutes))
    assert(fixture.id === "KEY1")
    assert(fixture.idAfter(59.seconds) === "KEY1")
    assert(fixture.idAfter(1.second) === "KEY2")
  }

  test("keys without an expiry are read again each minute, and used while that fails") {
    val fixture = new Fixture(None)
    assert(fixture.id === "KEY1")
    assert(fixture.idAfter(59.seconds) === "KEY1")
    fixture.trouble = Some(new IllegalStateException("sealed"))
    (1 to 1000).foreach(_ => assert(fixture.idAfter(1.hour) === "KEY1"))
    fixture.trouble = None
    assert(fixture.idAfter(1.minute).drop(3).toInt > 1)
  }

  test("a provider that fails is asked after pauses, until the keys expire 10 s later") {
    val fixture = new Fixture(Some(1.hour))
    fixture.id
    fixture.trouble = Some(new IllegalStateException("sealed"))
    fixture.clock.pass(55.minutes)
    (1 to (5.minutes - 10.seconds).toMillis.toInt / 50).foreach { _ =>
      assert(fixture.id === "KEY1")
      fixture.clock.pass(50.millis)
    }
    assert(fixture.calls > 10 && fixture.calls < 30)
    intercept[IllegalStateException](fixture.id)
    fixture.trouble = None
    assert(fixture.id === s"KEY${fixture.calls}")
  }

  test("pauses differ between machines: half to whole of a bound that grows from 1 s to 30 s") {
    def pause(failures: Int, chance: Double): Long = RenewedKeys
      .Held(new AwsKeys("ID", "hush"), Instant.EPOCH, Instant.MAX, failures)
      .failed(Instant.EPOCH, chance)
      .renewAt
      .toEpochMilli
    assert(Seq(pause(0, 0.0), pause(0, 0.999)) === Seq(500, 999))
    assert(Seq(pause(20, 0.0), pause(20, 0.9999)) === Seq(15000, 29998))
  }

  test("while one thread renews, another uses the old keys and does not wait") {
    val fixture = new Fixture(Some(1.hour))
    fixture.id
    fixture.clock.pass(56.minutes)
    val (isAsked, mayAnswer) = (new CountDownLatch(1), new CountDownLatch(1))
    fixture.before = () => {
      isAsked.countDown()
      assert(mayAnswer.await(20, TimeUnit.SECONDS))
    }
    val renewing = new Thread(() => { fixture.id; () })
    renewing.start()
    assert(isAsked.await(20, TimeUnit.SECONDS))
    assert(fixture.id === "KEY1")
    mayAnswer.countDown()
    renewing.join(20000)
    assert(fixture.id === "KEY2" && fixture.calls === 2)
  }
}
