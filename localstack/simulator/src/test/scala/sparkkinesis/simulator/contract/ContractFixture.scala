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

  /** Why none of the contract is tested here and now; asked like `capabilities`. */
  protected def notRun: Option[String] = None

  /** Whether what the service is known to lack is tried, and must fail. */
  protected def triesLacks: Boolean = true

  /** All streams of the suite begin with it. */
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

  /** Reads on until the tip or the shard's end; fails rather than read for ever. */
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
        case Some(_) if page.millisBehindLatest == 0 && page.records.isEmpty => Reading(all, None)
        case Some(next) => more(all, next, left - 1)
      }
    }
    more(Vector.empty, client.shardIterator(stream, shard, position), 1000)
  }

  /** All records, a parent's before its children's. */
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
   * A test of the contract. The table of conformance is made of these names.
   *
   * @param operation the service's name of what is tested
   */
  protected def contract(operation: String, name: String)(body: => Any): Unit =
    if (notRun.isEmpty) test(s"$operation: $name")(body)

  /**
   * A rule that the service is known to break where it lacks one of these. There the rule is tried
   * all the same, where that is harmless, and must fail: a service that keeps it has got better,
   * and the capability is no longer lacking. Its test is pending or ignored, and not cancelled,
   * since the JUnit reports of sbt tell a cancelled test from a passed one in no way.
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
   * The service's time goes on: moved where it can be, else waited for, which only seconds may be.
   */
  protected def pass(duration: FiniteDuration): Unit = capabilities.advance match {
    case Some(advance) => advance(duration)
    case None =>
      require(duration <= LongestWait, s"$duration is not waited for: needs Capability.MovesTime")
      SystemClock.sleep(duration)
  }

  /** What a rule may be late by and still see which of two times comes first. */
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
