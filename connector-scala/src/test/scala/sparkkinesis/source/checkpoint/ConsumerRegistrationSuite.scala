package sparkkinesis.source.checkpoint

import java.time.Instant

import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.client._
import sparkkinesis.model._
import sparkkinesis.sink.FastClock
import sparkkinesis.source.options.ConsumerChoice
import sparkkinesis.source.{ReadOnlyKinesis, ScriptedKinesis}

/**
 * The consumer of a query
 *   - is found by its name, or registered, and waited for;
 *   - is not registered if the options have its ARN;
 *   - fails by name if it is not there, is not allowed, or does not become active.
 */
class ConsumerRegistrationSuite extends AnyFunSuite {
  private val consumer = ConsumerArn(arn, "app", 1700000000)

  /** @param statuses of the consumer in the next descriptions; the last one stays */
  private final class Service(statuses: Option[ConsumerStatus]*) extends ReadOnlyKinesis {
    private val next = mutable.Queue(statuses: _*)
    var registered = 0
    var described = 0
    var registering: () => Unit = () => ()
    var describing: () => Unit = () => ()
    var reading: () => Unit = () => ()

    override def listShards(request: ListShardsRequest): ShardListing =
      ScriptedKinesis.listing(newStream(1): _*)
    override def shardIterator(s: StreamRef, shard: ShardId, p: Position): ShardIterator =
      ShardIterator("any")
    override def getRecords(stream: StreamRef, iterator: ShardIterator, limit: Int): Page = {
      reading()
      ScriptedKinesis.page(1 to 0)
    }

    override def fanOut: FanOutClient = new FanOutClient {
      override def describe(ref: ConsumerRef): ConsumerSummary = {
        described += 1
        describing()
        val status = if (next.size > 1) next.dequeue() else next.head
        status match {
          case Some(found) => ConsumerSummary(consumer, found, Instant.EPOCH)
          case None => throw new KinesisException.NotFound(s"Consumer $ref not found.")
        }
      }
      override def register(stream: StreamArn, name: String): ConsumerSummary = {
        registered += 1
        registering()
        ConsumerSummary(consumer, ConsumerStatus.Creating, Instant.EPOCH)
      }
      override def subscribe(
          consumer: ConsumerArn,
          shard: ShardId,
          position: Position,
          subscriber: EventSubscriber
      ): EventSubscription = fail()
    }

    def active(choice: ConsumerChoice): Option[ConsumerArn] =
      new ConsumerRegistration(this, stream, arn, new FastClock).active(choice)
  }

  private val named = ConsumerChoice.Named("app")
  private val byArn = ConsumerChoice.Given(Seq(consumer))
  private val (active, creating, deleting) =
    (Some(ConsumerStatus.Active), Some(ConsumerStatus.Creating), Some(ConsumerStatus.Deleting))

  test("a query that polls asks for nothing") {
    val service = new Service(None)
    assert(service.active(ConsumerChoice.Polling) === None && service.described === 0)
  }

  test("a consumer that exists is used") {
    val service = new Service(active)
    assert(service.active(named) === Some(consumer) && service.registered === 0)
  }

  test("a consumer that does not exist is registered once, and waited for") {
    val service = new Service(None, creating, creating, active)
    assert(service.active(named) === Some(consumer))
    assert(service.registered === 1 && service.described === 4)
  }

  test("a consumer that is being deleted is registered again when it is gone") {
    val service = new Service(deleting, deleting, None, creating, active)
    assert(service.active(named) === Some(consumer) && service.registered === 1)
  }

  test("another query may register it at the same moment") {
    val service = new Service(None, active)
    service.registering = () => throw new KinesisException.InUse("it has a consumer already")
    assert(service.active(named) === Some(consumer))
  }

  test("a consumer that does not become active fails the query after two minutes") {
    val service = new Service(creating)
    val e = intercept[KinesisException.InUse](service.active(named))
    assert(e.getMessage.contains("CREATING") && e.getMessage.contains("app"))
    assert(service.described > 60 && service.described < 150)
  }

  test("the limit of consumers is reported with the command that shows them") {
    val service = new Service(None)
    service.registering = () => throw new KinesisException.LimitExceeded("20 consumers.")
    val e = intercept[KinesisException.LimitExceeded](service.active(named))
    assert(e.getMessage.contains("aws kinesis list-stream-consumers"))
  }

  test("with an ARN nothing is registered, and the permission to describe is not necessary") {
    val service = new Service(active)
    assert(service.active(byArn) === Some(consumer))
    service.describing = () => throw new KinesisException.AccessDenied("no")
    assert(service.active(byArn) === Some(consumer) && service.registered === 0)
    val e = intercept[KinesisException.ConsumerNotFound](new Service(None).active(byArn))
    assert(e.getMessage.contains(consumer.toString))
  }

  test("the ARN of a consumer of another account's stream fails by name") {
    val foreign = consumer.copy(stream = arn.copy(account = "999999999999"))
    val e = intercept[KinesisException.ConsumerNotFound] {
      new Service(active).active(ConsumerChoice.Given(Seq(foreign)))
    }
    assert(e.getMessage.contains(foreign.toString) && e.getMessage.contains(arn.toString))
  }

  test("without the permission to poll, the query does not start; any other failure may pass") {
    val service = new Service(active)
    service.reading = () => throw new KinesisException.Throttled("later")
    assert(service.active(named) === Some(consumer))
    service.reading = () => throw new KinesisException.AccessDenied("GetRecords")
    intercept[KinesisException.AccessDenied](service.active(named))
  }
}
