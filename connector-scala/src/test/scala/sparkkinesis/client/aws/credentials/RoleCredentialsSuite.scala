package sparkkinesis.client.aws.credentials

import java.time.Instant
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{CountDownLatch, Executors, TimeUnit}

import scala.concurrent.duration._

import org.scalacheck.{Gen, Shrink}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials
import software.amazon.awssdk.core.exception.{AbortedException, SdkClientException}

import sparkkinesis.sink.FastClock

/**
 * The credentials of a role
 *   - never reach a call expired, for days, and are not asked for more often than needed;
 *   - stay in use until they expire while the role service fails, which is then asked seldom;
 *   - are renewed by one call, while the others go on.
 */
class RoleCredentialsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  /** Of a pause without length no test would come to an end. */
  implicit private def asItIs[A]: Shrink[A] = Shrink.shrinkAny

  /** A role service in memory. */
  private class Fixture(life: FiniteDuration = 1.hour) {
    val clock = new FastClock
    val asked = new AtomicInteger
    @volatile var trouble: () => Unit = () => ()
    val credentials = new RoleCredentials("arn:reader", () => assume(), clock)

    private def assume(): AwsSessionCredentials = {
      val number = asked.incrementAndGet()
      trouble()
      AwsSessionCredentials
        .builder()
        .accessKeyId(s"KEY$number")
        .secretAccessKey("hush")
        .sessionToken("token")
        .expirationTime(clock.now.plusMillis(life.toMillis))
        .build()
    }

    def resolve(): AwsSessionCredentials = credentials.resolveCredentials() match {
      case session: AwsSessionCredentials => session
      case other => fail(s"no session: ${other.getClass}")
    }

    def expiry(session: AwsSessionCredentials): Instant = session.expirationTime.get

    def isValid(session: AwsSessionCredentials): Boolean = clock.now.isBefore(expiry(session))
  }

  private val refused = SdkClientException.create("STS is busy.")

  test("for days each call gets credentials that are valid, new ones minutes before they expire") {
    forAll(Gen.choose(15, 720), Gen.choose(1, 120)) { (lifeMinutes, everySeconds) =>
      val life = lifeMinutes.minutes
      val fixture = new Fixture(life)
      var shortest = life
      while (fixture.clock.now.toEpochMilli < 3.days.toMillis) {
        val session = fixture.resolve()
        assert(fixture.isValid(session))
        val left = fixture.expiry(session).toEpochMilli - fixture.clock.now.toEpochMilli
        shortest = shortest.min(left.millis)
        fixture.clock.pass(everySeconds.seconds)
      }
      assert(shortest >= 5.minutes - everySeconds.seconds)
      assert(fixture.asked.get <= 3.days / (life - 7500.millis * 60) + 2)
    }
  }

  test("short-lived ones are used for half of their life at least") {
    val fixture = new Fixture(4.seconds)
    val first = fixture.resolve()
    fixture.clock.pass(1999.millis)
    assert(fixture.resolve() eq first)
    fixture.clock.pass(1.milli)
    assert(fixture.resolve().accessKeyId === "KEY2")
  }

  test("a role service that fails near the expiry: the old ones serve to their end, asked seldom") {
    val fixture = new Fixture()
    fixture.resolve()
    fixture.trouble = () => throw refused
    while (fixture.clock.now.toEpochMilli < (1.hour - 10.seconds).toMillis) {
      assert(fixture.resolve().accessKeyId === "KEY1")
      fixture.clock.pass(50.millis)
    }
    assert(fixture.asked.get > 5 && fixture.asked.get < 150, "with pauses of up to half a minute")
    fixture.clock.pass(1.second)
    assert(intercept[SdkClientException](fixture.resolve()) eq refused)
    fixture.trouble = () => ()
    fixture.clock.pass(100.millis)
    assert(fixture.isValid(fixture.resolve()))
  }

  test("once it answers again new ones are used within half a minute") {
    val fixture = new Fixture()
    fixture.resolve()
    fixture.trouble = () => throw refused
    fixture.clock.pass(53.minutes)
    (1 to 100).foreach { _ => fixture.resolve(); fixture.clock.pass(2.seconds) }
    fixture.trouble = () => ()
    fixture.clock.pass(30.seconds)
    assert(fixture.resolve().accessKeyId === s"KEY${fixture.asked.get}")
    assert(fixture.expiry(fixture.resolve()).toEpochMilli > 1.hour.toMillis)
  }

  test("those who wait for the first ones hear one failure together") {
    val fixture = new Fixture()
    fixture.trouble = () => throw refused
    (1 to 10).foreach(_ => intercept[SdkClientException](fixture.resolve()))
    assert(fixture.asked.get === 1)
    fixture.clock.pass(100.millis)
    intercept[SdkClientException](fixture.resolve())
    assert(fixture.asked.get === 2)
  }

  test("while one call waits for the role service, others go on with the old ones") {
    val fixture = new Fixture()
    fixture.resolve()
    fixture.clock.pass(56.minutes)
    val (begun, ended) = (new CountDownLatch(1), new CountDownLatch(1))
    fixture.trouble = () => { begun.countDown(); ended.await() }
    val caller = Executors.newSingleThreadExecutor()
    try {
      val renewing = caller.submit(() => fixture.resolve().accessKeyId)
      assert(begun.await(10, TimeUnit.SECONDS))
      (1 to 5).foreach(_ => assert(fixture.resolve().accessKeyId === "KEY1"))
      ended.countDown()
      assert(renewing.get(10, TimeUnit.SECONDS) === "KEY2")
      assert(fixture.resolve().accessKeyId === "KEY2" && fixture.asked.get === 2)
    } finally {
      ended.countDown()
      caller.shutdownNow(): Unit
    }
  }

  test("an interrupted wait ends, and is no failure of the role service") {
    val fixture = new Fixture()
    val (begun, ended) = (new CountDownLatch(1), new CountDownLatch(1))
    fixture.trouble = () => { begun.countDown(); ended.await() }
    val caller = Executors.newSingleThreadExecutor()
    try {
      caller.submit(() => fixture.resolve())
      assert(begun.await(10, TimeUnit.SECONDS))
      Thread.currentThread.interrupt()
      assertThrows[AbortedException](fixture.resolve())
      assert(Thread.interrupted(), "the flag stays for whoever asks next")
    } finally {
      ended.countDown()
      caller.shutdownNow(): Unit
    }
  }

  test("ones that had expired at birth are not used, and said to be so") {
    val fixture = new Fixture(0.seconds)
    assert(intercept[SdkClientException](fixture.resolve()).getMessage.contains("expired"))
  }
}
