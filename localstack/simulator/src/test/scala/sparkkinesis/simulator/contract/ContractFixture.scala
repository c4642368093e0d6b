package sparkkinesis.simulator.contract

import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.atomic.AtomicInteger

import scala.annotation.tailrec
import scala.collection.mutable
import scala.concurrent.duration._
import scala.reflect.ClassTag

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client._
import sparkkinesis.model._
import sparkkinesis.simulator.service.KinesisAdmin

/**
 * A Kinesis under test, and what its tests say about it.
 *
 * Readers may see a record some time after its acknowledgement, pages may be empty although records
 * follow, and a closed shard may end later than its last record. So the rules poll until they have
 * what they wait for, and fail after a bound.
 */
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

  /** The last acknowledged record of each shard of the streams with these names. */
  private val acknowledged = mutable.Map.empty[(String, ShardId), SequenceNumber]

  /** Reads from the trim horizon until every acknowledged record is there, and on to the tip. */
  protected def read(stream: StreamRef, shard: ShardId): Vector[Record] = {
    val last = acknowledged.get((name(stream), shard))
    pages(stream, client.shardIterator(stream, shard, Position.TrimHorizon)) { found =>
      isAtTip(found) && last.forall(found.flatMap(_.records).map(_.sequenceNumber).contains)
    }.flatMap(_.records)
  }

  /** Reads until there are so many records, and on to the tip. */
  protected def read(stream: StreamRef, shard: ShardId, from: Position, count: Int): Seq[Record] =
    read(stream, client.shardIterator(stream, shard, from), count)

  /** Reads until there are so many records, and on to the tip. */
  protected def read(stream: StreamRef, from: ShardIterator, count: Int): Seq[Record] =
    pages(stream, from)(found => isAtTip(found) && found.map(_.records.size).sum >= count)
      .flatMap(_.records)

  /** Reads to the end of the shard. */
  protected def readToEnd(
      stream: StreamRef,
      shard: ShardId,
      position: Position = Position.TrimHorizon
  ): Reading = {
    val found = pages(stream, client.shardIterator(stream, shard, position))(_ => false)
    assert(found.last.next.isEmpty, s"No end of shard $shard in sight.")
    Reading(found.flatMap(_.records), found.last.children)
  }

  /**
   * Reads pages until they suffice, the shard ends, or many reads brought nothing new.
   *
   * @param limit maximum number of records per page
   */
  protected def pages(
      stream: StreamRef,
      from: ShardIterator,
      limit: Int = ServiceLimits.GetRecordsCount
  )(suffice: Vector[Page] => Boolean): Vector[Page] = {
    @tailrec def more(found: Vector[Page], iterator: ShardIterator, left: Int): Vector[Page] = {
      val page = client.getRecords(stream, iterator, limit)
      val all = found :+ page
      page.next match {
        case Some(next) if left > 0 && !suffice(all) =>
          if (page.isAtTip && page.records.isEmpty) poll()
          more(all, next, if (page.records.isEmpty) left - 1 else Polls)
        case _ => all
      }
    }
    more(Vector.empty, from, Polls)
  }

  private def isAtTip(pages: Vector[Page]): Boolean =
    pages.last.isAtTip && pages.last.records.isEmpty

  /** All acknowledged records, those of a parent before those of its children. */
  protected def readAll(stream: StreamRef): Vector[Record] =
    shards(stream).sortBy(_.id).flatMap(shard => read(stream, shard.id))

  protected def put(stream: StreamRef, entries: PutEntry*): Seq[PutResult.Written] =
    client.putRecords(stream, entries).map {
      case written: PutResult.Written => acknowledge(stream, written)
      case failed: PutResult.Failed => fail(s"Not written: $failed")
    }

  /** Notes that a record was written, and returns it. */
  protected def acknowledge(stream: StreamRef, written: PutResult.Written): PutResult.Written = {
    val place = (name(stream), written.shard)
    if (acknowledged.get(place).forall(_ < written.sequenceNumber))
      acknowledged(place) = written.sequenceNumber
    written
  }

  private def name(stream: StreamRef): String = stream match {
    case StreamRef.ByName(name) => name.name
    case StreamRef.ByArn(arn) => arn.name.name
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
   * A rule that a service breaks if it lacks one of these capabilities. With `triesLacks`, it still
   * runs if that does no harm, and must fail: if it passes, the service has improved, and the
   * capability is no longer missing. Its test is pending or ignored, and not canceled, because
   * sbt's JUnit reports show canceled tests as passed.
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

  /** Lets time pass before the next look at something that may take a while. */
  protected def poll(): Unit = pass(if (capabilities.advance.isEmpty) 50.millis else 5.millis)

  /** The shortest time that the test can distinguish. */
  protected def moment: FiniteDuration = if (capabilities.advance.isEmpty) 1.second else 1.milli

  private val LongestWait = 6.seconds

  /** How often a rule looks for something that may take a while. */
  private val Polls = 200

  /** Puts records that arrive in different milliseconds. */
  protected def spaced(stream: StreamRef, count: Int): Seq[Record] = {
    (1 to count).foreach { i =>
      put(stream, entry("k", s"$i"))
      pass(5.millis)
    }
    readAll(stream)
  }
}

/** A shard that was read to its end. */
final case class Reading(records: Vector[Record], children: Seq[ChildShard])
