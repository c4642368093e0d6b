package sparkkinesis.simulator

import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.atomic.AtomicInteger

import scala.annotation.tailrec
import scala.concurrent.duration._
import scala.reflect.ClassTag

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client._
import sparkkinesis.model._

/** A Kinesis under test, and what its tests say about it. */
abstract class ContractFixture extends AnyFunSuite {
  protected def client: KinesisClient

  protected def admin: KinesisAdmin

  /** Asked while the tests are registered: an override of it must be lazy. */
  protected def capabilities: Capabilities = Capabilities()

  /** Why none of the contract is tested here and now; asked like `capabilities`. */
  protected def notRun: Option[String] = None

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
   * Skips the test where the service is known not to do it. Ignored and not cancelled, since the
   * JUnit reports of sbt tell a cancelled test from a passed one in no way.
   */
  protected def contractIf(capable: Boolean, operation: String, name: String)(body: => Any): Unit =
    if (capable) contract(operation, name)(body)
    else if (notRun.isEmpty) ignore(s"$operation: $name")(body)

  /** The shards own the whole hash key space, in about equal parts. */
  protected def assertEven(found: Seq[Shard], count: Int): Unit = {
    assertTiling(found, count)
    val share = HashKeyRange.even(count).head.last.value
    found.map(_.hashKeys).foreach { range =>
      assert((range.last.value - range.first.value - share).abs < 1000)
    }
  }

  protected def assertTiling(found: Seq[Shard], count: Int): Unit = {
    val ranges = found.map(_.hashKeys).sortBy(_.first)
    assert(ranges.size == count)
    assert(ranges.reduce(_.merge(_)) == HashKeyRange.All)
    ()
  }

  /** Puts records that arrive in different milliseconds. */
  protected def spaced(stream: StreamRef, count: Int): Seq[Record] = {
    (1 to count).foreach { i =>
      put(stream, entry("k", s"$i"))
      capabilities.advance.getOrElse((d: FiniteDuration) => SystemClock.sleep(d))(5.millis)
    }
    readAll(stream)
  }
}

/** @param children where the shard's end was reached */
final case class Reading(records: Vector[Record], children: Option[Seq[ChildShard]])

/**
 * What a service can do that another cannot. The defaults are AWS's.
 *
 * @param advance moves the service's time, where it can be moved
 * @param smallShardPages its pages of `ListShards` are so small that tests see several
 * @param limitsPutRecords it refuses requests of 501 records or over 10 MiB
 * @param countsPartitionKeys they count to the size of a record
 * @param scalesEvenly `UpdateShardCount` leaves shards of equal ranges
 * @param refusesEmptySplits it refuses a split at a shard's first hash key
 * @param keepsOnDemandShards it refuses calls that change an on-demand stream's shards
 * @param quotas it keeps the limits of throughput and of call rates
 * @param refusesForeignIterators what is no iterator is an invalid argument, not a failure
 * @param pagesConsumers the pages of `ListStreamConsumers` together have every consumer
 * @param sizesEvents events of a subscription have about 1 MiB at most
 * @param endsSubscriptions a subscription ends with its shard, stream or consumer
 * @param checksShardOfSubscription a subscription to an unknown shard is refused
 */
final case class Capabilities(
    advance: Option[FiniteDuration => Unit] = None,
    smallShardPages: Boolean = false,
    limitsPutRecords: Boolean = true,
    countsPartitionKeys: Boolean = true,
    scalesEvenly: Boolean = true,
    refusesEmptySplits: Boolean = true,
    quotas: Boolean = true,
    refusesForeignIterators: Boolean = true,
    pagesConsumers: Boolean = true,
    sizesEvents: Boolean = true,
    endsSubscriptions: Boolean = true,
    checksShardOfSubscription: Boolean = true,
    keepsOnDemandShards: Boolean = true
)
