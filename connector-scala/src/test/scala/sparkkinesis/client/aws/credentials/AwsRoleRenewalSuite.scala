package sparkkinesis.client.aws.credentials

import java.time.Instant
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicBoolean

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import com.sun.net.httpserver.HttpExchange
import org.scalatest.concurrent.Eventually
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Millis, Seconds, Span}

import sparkkinesis.client._
import sparkkinesis.client.access.Timeouts
import sparkkinesis.client.aws.{AwsClientFactory, HttpStub, RoleService}
import sparkkinesis.model.{StreamName, StreamRef}

/** A client with an assumed role over many lives of its credentials, on the wire. */
class AwsRoleRenewalSuite extends AnyFunSuite with Eventually {
  implicit override val patienceConfig: PatienceConfig =
    PatienceConfig(Span(30, Seconds), Span(20, Millis))

  private val stream = StreamRef.ByName(StreamName("orders"))
  private val life = 3.seconds

  /**
   * The timeouts of production, scaled to credentials that live for three seconds instead of an
   * hour.
   */
  private val timeouts =
    Timeouts.Default.copy(renewBeforeExpiry = life / 2, discardBeforeExpiry = life / 10)

  /** A request as it was signed. */
  private case class Signed(key: String, token: String, at: Instant)

  private class Fixture {
    val seen = new ConcurrentLinkedQueue[Signed]
    val isBusy = new AtomicBoolean
    val roles = new RoleService(life, () => isBusy.get)
    private val kinesis = new HttpStub(answer)

    /** There is no such stream: an answer as good as any. */
    private def answer(exchange: HttpExchange): HttpStub.Answer = {
      val authorization = exchange.getRequestHeaders.getFirst("Authorization")
      val key = authorization.replaceFirst(".*Credential=", "").takeWhile(_ != '/')
      val token = exchange.getRequestHeaders.getFirst("X-Amz-Security-Token")
      seen.add(Signed(key, token, SystemClock.now))
      HttpStub.Answer(
        400,
        "application/x-amz-cbor-1.1",
        HttpStub.failure("ResourceNotFoundException")
      )
    }

    val client: KinesisClient = AwsClientFactory.create(
      ClientConfig(
        "eu-west-1",
        Some(kinesis.endpoint),
        CredentialsConfig(
          CredentialsSource.Static("ID", "hush", None),
          Some(RoleConfig("arn:aws:iam::123456789012:role/r", "spark", None, Some(roles.endpoint)))
        )
      ),
      timeouts
    )

    def call(): Unit = { intercept[KinesisException.NotFound](client.describeStream(stream)); () }

    /** Calls until something holds; no call may fail. */
    def callUntil(condition: => Boolean): Unit = eventually { call(); assert(condition) }

    def close(): Unit = {
      client.close()
      kinesis.close()
      roles.close()
    }
  }

  private def withClient(use: Fixture => Unit): Unit = {
    val fixture = new Fixture
    try use(fixture)
    finally fixture.close()
  }

  private def assertAllValid(fixture: Fixture): Unit = fixture.seen.asScala.foreach { signed =>
    val number = signed.key.stripPrefix("KEY").toInt
    assert(signed.at.isBefore(fixture.roles.expiries(number - 1)), s"$signed had expired")
    assert(signed.token === s"token-of-${signed.key}")
  }

  test(
    "each request is signed with valid credentials, and new ones are fetched before the old expire"
  ) {
    withClient { fixture =>
      fixture.callUntil(fixture.roles.expiries.size >= 4)
      assertAllValid(fixture)
      val used = fixture.seen.asScala.map(_.key).toSeq.distinct
      assert(used.take(3) === Seq("KEY1", "KEY2", "KEY3"))
    }
  }

  test("a role service that fails while the old credentials are valid fails no call") {
    withClient { fixture =>
      fixture.call()
      fixture.isBusy.set(true)
      val renewal = SystemClock.now.plusMillis(life.toMillis * 6 / 10)
      fixture.callUntil(SystemClock.now.isAfter(renewal))
      assert(fixture.seen.asScala.forall(_.key == "KEY1"))
      fixture.isBusy.set(false)
      fixture.callUntil(fixture.roles.expiries.size >= 2)
      assertAllValid(fixture)
    }
  }

  private def threads: Set[Thread] = Thread.getAllStackTraces.keySet.asScala.toSet

  test("a closed client leaves no thread behind, however often it renewed its credentials") {
    withClient(_.call()) // what the SDK keeps for good
    val before = threads
    withClient(fixture => fixture.callUntil(fixture.roles.expiries.size >= 3))
    eventually {
      val left = threads.diff(before).filter(_.isAlive).map(_.getName)
      assert(
        left.filterNot(n => n.startsWith("http-stub") || n.contains("HTTP-Dispatcher")).isEmpty
      )
    }
  }
}
