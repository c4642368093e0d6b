package sparkkinesis.simulator.contract

import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.atomic.AtomicInteger

import scala.annotation.tailrec
import scala.concurrent.duration._
import scala.reflect.ClassTag

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client._
import sparkkinesis.model._
import sparkkinesis.simulator.service.KinesisAdmin

/** A Kinesis under test, and what its tests say about it. */
abstract class ContractFixture extends AnyFunSuite {
  protected def client: KinesisClient

  protected def admin: KinesisAdmin

  /** Asked while the tests are registered: an override of it must be lazy. */
  protected def capabilities: Capabilities = Capabilities()

  /** Why the contract cannot be tested on this machine; called like `capabilities`. */
  protected def notRun: Option[String] = None

  /** Whether what the service is known to lack is tried, and must fail. */
  protected def triesLacks: Boolean = true

  /** The prefix of the names of all streams of the suite. */
  protected def namePrefix: String = getClass.getSimpleName

  private val names = new AtomicInteger

  protected def newName(): StreamName = StreamName(s"$namePrefix-${names.incrementAndGet()}")

  protected def newStream(shards: Int): StreamRef.ByName = {
    val name = newName()
    admin.createStream(name, shards)
    StreamRef.ByName(name)
  }

  protected def entry(key: String, data: String): PutEntry =
    PutEntry(key, data.getBytes(UTF_8), explicitHashKey = None)

  protected def text(record: Record): String = new String(record.data, UTF_8)

  protected def shards(stream: StreamRef, filter: ShardFilter = ShardFilter.FromTrimHorizon) = {
    @tailrec def more(found: Vector[Shard], page: ShardListing): Vector[Shard] = {
      val all = found ++ page.shards
      page.nextToken match {
        case Some(token) => more(all, client.listShards(ListShardsRequest.Next(stream, token)))
        case None => all
      }
    }
    more(Vector.empty, client.listShards(ListShardsRequest.First(stream, filter)))
  }

  /** Reads to the tip or the end of the shard. Fails after too many pages. */
  protected def read(
      stream: StreamRef,
      shard: ShardId,
      position: Position = Position.TrimHorizon
  ): Reading = {
    @tailrec def more(found: Vector[Record], iterator: ShardIterator, left: Int): Reading = {
      assert(left > 0, s"No end of shard $shard in sight.")
      val page = client.getRecords(stream, iterator, ServiceLimits.GetRecordsCount)
      val all = found ++ page.records
      page.next match {
        case None => Reading(all, Some(page.children))
        case Some(_) if page.isAtTip && page.records.isEmpty => Reading(all, None)
        case Some(next) => more(all, next, left - 1)
      }
    }
    more(Vector.empty, client.shardIterator(stream, shard, position), 1000)
  }

  /** All records, those of a parent before those of its children. */
  protected def readAll(stream: StreamRef): Vector[Record] =
    shards(stream).sortBy(_.id).flatMap(shard => read(stream, shard.id).records)

  protected def put(stream: StreamRef, entries: PutEntry*): Seq[PutResult.Written] =
    client.putRecords(stream, entries).map {
      case written: PutResult.Written => written
      case failed: PutResult.Failed => fail(s"Not written: $failed")
    }

  protected def refused[E <: KinesisException: ClassTag](call: => Any): Unit = {
    intercept[E](call)
    ()
  }

  protected def middle(range: HashKeyRange): HashKey =
    HashKey((range.first.value + range.last.value) / 2)

  /**
   * A rule of the contract. The conformance table consists of these names.
   *
   * @param operation the service's name of the operation
   */
  protected def contract(operation: String, name: String)(body: => Any): Unit =
    if (notRun.isEmpty) test(s"$operation: $name")(body)

  /**
   * A rule that a service breaks if it lacks one of these capabilities. It still runs if that does
   * no harm, and must fail: if it passes, the service has improved, and the capability is no longer
   * missing. Its test is pending or ignored, and not canceled, because sbt's JUnit reports show
   * canceled tests as passed.
   */
  protected def contractIf(needs: Capability*)(operation: String, name: String)(
      body: => Any
  ): Unit = {
    val missing = needs.filterNot(capabilities.has)
    def titled = s"$operation: $name (lacks: ${missing.mkString(", ")})"
    if (missing.isEmpty) contract(operation, name)(body)
    else if (notRun.isEmpty)
      if (triesLacks && missing.exists(_.isTried)) test(titled)(lacking(missing, body))
      else ignore(titled)(body)
  }

  private def lacking(missing: Seq[Capability], body: => Any): Unit =
    withClue(s"Not lacking any more, for this rule: ${missing.mkString(", ")}. ") {
      pendingUntilFixed { body; () }
      ()
    }

  /** The shards own the whole hash key space, each its equal part. */
  protected def assertEven(found: Seq[Shard], count: Int): Unit = {
    assert(found.map(_.hashKeys).sortBy(_.first) == HashKeyRange.even(count))
    ()
  }

  protected def assertTiling(found: Seq[Shard], count: Int): Unit = {
    val ranges = found.map(_.hashKeys).sortBy(_.first)
    assert(ranges.size == count)
    assert(ranges.reduce(_.merge(_)) == HashKeyRange.All)
    ()
  }

  /**
   * Lets time pass: moves the clock if possible, otherwise waits, which is allowed for seconds
   * only.
   */
  protected def pass(duration: FiniteDuration): Unit = capabilities.advance match {
    case Some(advance) => advance(duration)
    case None =>
      require(duration <= LongestWait, s"$duration is not waited for: needs Capability.MovesTime")
      SystemClock.sleep(duration)
  }

  /** The shortest time that the test can distinguish. */
  protected def moment: FiniteDuration = if (capabilities.advance.isEmpty) 1.second else 1.milli

  private val LongestWait = 6.seconds

  /** Puts records that arrive in different milliseconds. */
  protected def spaced(stream: StreamRef, count: Int): Seq[Record] = {
    (1 to count).foreach { i =>
      put(stream, entry("k", s"$i"))
      pass(5.millis)
    }
    readAll(stream)
  }
}

/** @param children where the shard's end was reached */
final case class Reading(records: Vector[Record], children: Option[Seq[ChildShard]])
