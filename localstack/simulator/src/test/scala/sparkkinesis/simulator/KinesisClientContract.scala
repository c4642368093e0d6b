package sparkkinesis.simulator

import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.atomic.AtomicInteger

import scala.annotation.tailrec
import scala.concurrent.duration._
import scala.reflect.ClassTag

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client._
import sparkkinesis.model._

/**
 * What the connector relies on, of any Kinesis: ours in memory and over HTTP, another's, AWS.
 *
 * The capabilities name where a service is known to be wrong; a switch off skips only its tests.
 */
abstract class KinesisClientContract extends AnyFunSuite {
  protected def client: KinesisClient

  protected def admin: KinesisAdmin

  protected def capabilities: Capabilities = Capabilities()

  private val names = new AtomicInteger

  protected def newStream(shards: Int): StreamRef.ByName = {
    val name = StreamName(s"${getClass.getSimpleName}-${names.incrementAndGet()}")
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

  /** Skips the test where the service is known not to do it. */
  protected def testIf(capable: => Boolean, name: String)(body: => Any): Unit = test(name) {
    assume(capable, "(a capability this service is known to lack)")
    body
  }

  // Streams

  test("a new stream is active, with its shards open over the whole hash key space") {
    val stream = newStream(3)
    val summary = client.describeStream(stream)
    assert(summary.status == StreamStatus.Active)
    assert(summary.arn.name == stream.name)
    assert(summary.openShards == 3)
    assert(summary.retention == 24.hours)
    assert(summary.maxRecordBytes == ServiceLimits.RecordBytes)
    val found = shards(stream)
    assertEven(found, 3)
    assert(found.map(_.id.name) == (0 to 2).map(i => f"shardId-$i%012d"))
    assert(found.forall(shard => shard.isOpen && shard.parents.isEmpty))
  }

  test("a stream answers to its ARN as to its name") {
    val stream = newStream(1)
    val byArn = StreamRef.ByArn(client.describeStream(stream).arn)
    put(byArn, entry("k", "v"))
    assert(client.describeStream(byArn) == client.describeStream(stream))
    assert(shards(byArn) == shards(stream))
    assert(readAll(byArn).map(text) == Seq("v"))
  }

  test("streams are listed by name until they are deleted") {
    val (one, two) = (newStream(1).name, newStream(1).name)
    val listed = admin.listStreams()
    assert(listed.contains(one) && listed.contains(two))
    assert(listed.map(_.name) == listed.map(_.name).sorted)
    admin.deleteStream(one)
    assert(!admin.listStreams().contains(one))
    refused[KinesisException.NotFound](client.describeStream(StreamRef.ByName(one)))
  }

  test("a stream made again is another, and empty") {
    val stream = newStream(1)
    put(stream, entry("k", "old"))
    val before = client.describeStream(stream).created
    admin.deleteStream(stream.name)
    capabilities.advance.foreach(_(1.second))
    admin.createStream(stream.name, 1)
    assert(client.describeStream(stream).created.isAfter(before))
    assert(readAll(stream).isEmpty)
  }

  test("a stream that exists cannot be made again") {
    refused[KinesisException.InUse](admin.createStream(newStream(1).name, 1))
  }

  test("what does not exist is not found") {
    val missing = StreamRef.ByName(StreamName("no-such-stream"))
    val stream = newStream(1)
    val noShard = ShardId("shardId-000000000099")
    refused[KinesisException.NotFound](client.describeStream(missing))
    refused[KinesisException.NotFound](
      client.listShards(ListShardsRequest.First(missing, ShardFilter.AtLatest))
    )
    refused[KinesisException.NotFound](client.putRecords(missing, Seq(entry("k", "v"))))
    refused[KinesisException.NotFound](
      client.shardIterator(missing, ShardId("shardId-000000000000"), Position.TrimHorizon)
    )
    refused[KinesisException.NotFound](
      client.shardIterator(stream, noShard, Position.TrimHorizon)
    )
    refused[KinesisException.NotFound](
      admin.splitShard(stream.name, noShard, middle(HashKeyRange.All))
    )
    refused[KinesisException.NotFound](admin.deleteStream(missing.name))
  }

  // Writing

  test("a record comes back as it was put") {
    val stream = newStream(1)
    val bytes = Array.tabulate[Byte](256)(_.toByte)
    val keys = Seq("k", "ключ-鍵-🔑", "x" * 256)
    val written = keys.map(key => put(stream, PutEntry(key, bytes, None)).head)
    val records = readAll(stream)
    assert(records.map(_.partitionKey) == keys.map(Some(_)))
    assert(records.forall(_.data.sameElements(bytes)))
    assert(records.map(_.sequenceNumber) == written.map(_.sequenceNumber))
    assert(written.forall(_.shard == ShardId("shardId-000000000000")))
  }

  test("a record may be empty") {
    val stream = newStream(1)
    put(stream, entry("k", "a"), entry("k", ""), entry("k", "b"))
    assert(readAll(stream).map(text).sorted == Seq("", "a", "b"))
  }

  test("PutRecord is PutRecords of one") {
    val stream = newStream(2)
    val written = admin.putRecord(stream.name, entry("k", "v"))
    val record = read(stream, written.shard).records.head
    assert(record.sequenceNumber == written.sequenceNumber && text(record) == "v")
  }

  test("the MD5 of the partition key chooses the shard") {
    val stream = newStream(4)
    val owners = shards(stream)
    (1 to 40).map(i => s"key-$i").grouped(20).foreach { keys =>
      val written = put(stream, keys.map(entry(_, "v")): _*)
      keys.zip(written).foreach { case (key, result) =>
        assert(owners.find(_.hashKeys.contains(HashKey.of(key))).map(_.id).contains(result.shard))
      }
    }
  }

  test("an explicit hash key chooses the shard, to the last key of its range") {
    val stream = newStream(2)
    shards(stream).foreach { shard =>
      Seq(shard.hashKeys.first, shard.hashKeys.last).foreach { key =>
        val written = put(stream, PutEntry("k", Array.emptyByteArray, Some(key))).head
        assert(written.shard == shard.id)
      }
    }
  }

  test("sequence numbers of a shard grow with the puts, from its first on") {
    val stream = newStream(1)
    val numbers = (1 to 20).flatMap(i => put(stream, entry("k", s"$i"))).map(_.sequenceNumber)
    assert(numbers == numbers.sorted && numbers.distinct == numbers)
    assert(shards(stream).head.first < numbers.head)
    assert(readAll(stream).map(text) == (1 to 20).map(_.toString))
  }

  test("a record of 1 MiB with its key is taken, and one of more than 1 MiB refused") {
    val stream = newStream(1)
    val fits = new Array[Byte](ServiceLimits.RecordBytes - 1)
    put(stream, PutEntry("k", fits, None))
    assert(readAll(stream).head.data.length == fits.length)
    refused[KinesisException.InvalidArgument](
      admin.putRecord(stream.name, PutEntry("k", new Array[Byte](fits.length + 2), None))
    )
  }

  testIf(capabilities.countsPartitionKeys, "the partition key counts to the record's size") {
    val stream = newStream(1)
    val data = new Array[Byte](ServiceLimits.RecordBytes - 2)
    put(stream, PutEntry("ü", data, None))
    refused[KinesisException.InvalidArgument](
      admin.putRecord(stream.name, PutEntry("üx", data, None))
    )
  }

  testIf(capabilities.limitsPutRecords, "a request holds 500 records, and not 501") {
    val stream = newStream(1)
    val entries = (1 to 501).map(i => entry("k", s"$i"))
    refused[KinesisException.InvalidArgument](client.putRecords(stream, entries))
    assert(put(stream, entries.init: _*).size == 500)
  }

  testIf(capabilities.limitsPutRecords, "a request holds 10 MiB, keys included, and no more") {
    val stream = newStream(1)
    val entries = Seq.fill(10)(PutEntry("k", new Array[Byte](ServiceLimits.RecordBytes - 1), None))
    assert(put(stream, entries: _*).size == 10)
    refused[KinesisException.InvalidArgument](client.putRecords(stream, entries :+ entry("k", "")))
  }

  test("a partition key has 1 to 256 characters") {
    val stream = newStream(1)
    Seq("", "x" * 257).foreach { key =>
      refused[KinesisException.InvalidArgument](client.putRecords(stream, Seq(entry(key, "v"))))
    }
  }

  // Reading

  test("an iterator begins where its position says") {
    val stream = newStream(1)
    val shard = shards(stream).head.id
    val written = (1 to 4).flatMap(i => put(stream, entry("k", s"$i")))
    def from(position: Position): Seq[String] = read(stream, shard, position).records.map(text)
    assert(from(Position.TrimHorizon) == Seq("1", "2", "3", "4"))
    assert(from(Position.Latest).isEmpty)
    assert(from(Position.AtSequenceNumber(written(1).sequenceNumber)) == Seq("2", "3", "4"))
    assert(from(Position.AfterSequenceNumber(written(1).sequenceNumber)) == Seq("3", "4"))
    assert(from(Position.AfterSequenceNumber(written(3).sequenceNumber)).isEmpty)
  }

  test("LATEST reads what is put after the iterator was made") {
    val stream = newStream(1)
    put(stream, entry("k", "before"))
    val shard = shards(stream).head.id
    val iterator = client.shardIterator(stream, shard, Position.Latest)
    put(stream, entry("k", "after"))
    assert(client.getRecords(stream, iterator, 10).records.map(text) == Seq("after"))
  }

  test("AT_TIMESTAMP begins with the first record that arrived then or later") {
    val stream = newStream(1)
    val shard = shards(stream).head.id
    val arrivals = spaced(stream, 3).map(_.arrivalMillis)
    arrivals.zipWithIndex.foreach { case (arrival, i) =>
      val at = Position.AtTimestamp(java.time.Instant.ofEpochMilli(arrival))
      assert(read(stream, shard, at).records.map(_.arrivalMillis) == arrivals.drop(i))
    }
    val early = Position.AtTimestamp(java.time.Instant.ofEpochMilli(arrivals.head - 3600000))
    assert(read(stream, shard, early).records.size == 3)
  }

  test("an iterator may be read again, and gives the same") {
    val stream = newStream(1)
    put(stream, entry("k", "a"))
    put(stream, entry("k", "b"))
    val iterator = client.shardIterator(stream, shards(stream).head.id, Position.TrimHorizon)
    val first = client.getRecords(stream, iterator, 1)
    assert(client.getRecords(stream, iterator, 1).records.map(text) == first.records.map(text))
    val rest = client.getRecords(stream, first.next.get, 10)
    assert((first.records ++ rest.records).map(text) == Seq("a", "b"))
  }

  test("a page has at most `limit` records, and tells whether more follow") {
    val stream = newStream(1)
    spaced(stream, 3)
    val iterator = client.shardIterator(stream, shards(stream).head.id, Position.TrimHorizon)
    val page = client.getRecords(stream, iterator, 2)
    assert(page.records.size == 2 && page.millisBehindLatest > 0)
    val last = client.getRecords(stream, page.next.get, 2)
    assert(last.records.size == 1 && last.millisBehindLatest == 0)
    assert(last.next.nonEmpty && last.children.isEmpty)
  }

  test("a page has at most 10 MiB") {
    val stream = newStream(1)
    val blob = new Array[Byte](900 * 1024)
    (1 to 3).foreach(_ => put(stream, Seq.fill(4)(PutEntry("k", blob, None)): _*))
    val iterator = client.shardIterator(stream, shards(stream).head.id, Position.TrimHorizon)
    val page = client.getRecords(stream, iterator, 100)
    assert(page.records.map(_.data.length).sum <= ServiceLimits.GetRecordsBytes)
    assert(page.records.size == 11)
    assert(client.getRecords(stream, page.next.get, 100).records.size == 1)
  }

  test("a page is asked for with a limit of 1 to 10,000") {
    val stream = newStream(1)
    val iterator = client.shardIterator(stream, shards(stream).head.id, Position.TrimHorizon)
    Seq(0, 10001).foreach { limit =>
      refused[KinesisException.InvalidArgument](client.getRecords(stream, iterator, limit))
    }
    assert(client.getRecords(stream, iterator, 10000).records.isEmpty)
  }

  testIf(capabilities.refusesForeignIterators, "what is no iterator is refused") {
    val stream = newStream(1)
    refused[KinesisException.InvalidArgument](
      client.getRecords(stream, ShardIterator("AAAAnonsense"), 10)
    )
  }

  testIf(capabilities.advance.nonEmpty, "an iterator expires after five minutes") {
    val stream = newStream(1)
    val iterator = client.shardIterator(stream, shards(stream).head.id, Position.TrimHorizon)
    capabilities.advance.foreach(_(5.minutes))
    assert(client.getRecords(stream, iterator, 1).records.isEmpty)
    capabilities.advance.foreach(_(1.milli))
    refused[KinesisException.IteratorExpired](client.getRecords(stream, iterator, 1))
  }

  testIf(capabilities.advance.nonEmpty, "records older than the retention are gone") {
    val stream = newStream(1)
    val shard = shards(stream).head.id
    val old = put(stream, entry("k", "old")).head.sequenceNumber
    capabilities.advance.foreach(_(24.hours))
    put(stream, entry("k", "new"))
    assert(readAll(stream).map(text) == Seq("old", "new"))
    capabilities.advance.foreach(_(1.milli))
    assert(readAll(stream).map(text) == Seq("new"))
    assert(read(stream, shard, Position.AtSequenceNumber(old)).records.map(text) == Seq("new"))
  }

  // Listing and resharding

  testIf(capabilities.smallShardPages, "shards are listed page by page, each once") {
    val stream = newStream(7)
    val first = client.listShards(ListShardsRequest.First(stream, ShardFilter.FromTrimHorizon))
    assert(first.shards.size < 7 && first.nextToken.nonEmpty)
    assert(shards(stream).map(_.id).distinct.size == 7)
  }

  test("a split closes the shard for two children that share its hash keys") {
    val stream = newStream(2)
    val parent = shards(stream).head
    put(stream, PutEntry("k", "before".getBytes(UTF_8), Some(parent.hashKeys.first)))
    val start = middle(parent.hashKeys)
    admin.splitShard(stream.name, parent.id, start)
    val all = shards(stream)
    val children = all.filter(_.parents == Seq(parent.id))
    val (low, high) = parent.hashKeys.splitAt(start)
    assert(children.map(_.hashKeys).toSet == Set(low, high))
    assert(!all.find(_.id == parent.id).get.isOpen)
    assert(shards(stream, ShardFilter.AtLatest).map(_.id) == all.filter(_.isOpen).map(_.id))
    assert(client.describeStream(stream).openShards == 3)
    assert(children.forall(_.first > all.find(_.id == parent.id).get.first))
  }

  test("a closed shard is read to its end, which names the children") {
    val stream = newStream(1)
    val parent = shards(stream).head
    put(stream, entry("k", "1"))
    put(stream, entry("k", "2"))
    admin.splitShard(stream.name, parent.id, middle(parent.hashKeys))
    val written = put(stream, entry("k", "3")).head
    val Reading(records, children) = read(stream, parent.id)
    assert(records.map(text) == Seq("1", "2"))
    val found = shards(stream).filter(_.parents.nonEmpty)
    assert(
      children.get.sortBy(_.id) == found.map(s => ChildShard(s.id, s.parents, s.hashKeys))
    )
    assert(found.map(_.id).contains(written.shard))
    assert(written.sequenceNumber > records.last.sequenceNumber)
    val after = read(stream, parent.id, Position.AfterSequenceNumber(records.last.sequenceNumber))
    assert(after.records.isEmpty && after.children.exists(_.size == 2))
  }

  test("an iterator at the tip when its shard is split comes to the end") {
    val stream = newStream(1)
    val parent = shards(stream).head
    val iterator = client.shardIterator(stream, parent.id, Position.Latest)
    val tip = client.getRecords(stream, iterator, 10).next.get
    admin.splitShard(stream.name, parent.id, middle(parent.hashKeys))
    val page = client.getRecords(stream, tip, 10)
    assert(page.records.isEmpty && page.next.isEmpty && page.children.size == 2)
  }

  test("a merge closes two shards for a child of both") {
    val stream = newStream(2)
    val parents = shards(stream)
    val (left, right) = (parents.head, parents.last)
    put(stream, PutEntry("l", "left".getBytes(UTF_8), Some(left.hashKeys.first)))
    put(stream, PutEntry("r", "right".getBytes(UTF_8), Some(right.hashKeys.last)))
    admin.mergeShards(stream.name, left.id, right.id)
    val child = shards(stream, ShardFilter.AtLatest).head
    assert(child.parents == Seq(left.id, right.id) && child.hashKeys == HashKeyRange.All)
    Seq(left -> "left", right -> "right").foreach { case (shard, data) =>
      val Reading(records, children) = read(stream, shard.id)
      assert(records.map(text) == Seq(data))
      assert(children.contains(Seq(ChildShard(child.id, Seq(left.id, right.id), child.hashKeys))))
    }
    assert(put(stream, entry("any", "v")).head.shard == child.id)
  }

  test("a split must lie inside an open shard, a merge join neighbours") {
    val stream = newStream(3)
    val all = shards(stream)
    val (one, two, three) = (all(0), all(1), all(2))
    refused[KinesisException.InvalidArgument](
      admin.splitShard(stream.name, one.id, middle(two.hashKeys))
    )
    refused[KinesisException.InvalidArgument](admin.mergeShards(stream.name, one.id, three.id))
    admin.mergeShards(stream.name, one.id, two.id)
    refused[KinesisException](admin.splitShard(stream.name, one.id, middle(one.hashKeys)))
  }

  testIf(capabilities.refusesEmptySplits, "a split leaves both children hash keys") {
    val stream = newStream(1)
    refused[KinesisException.InvalidArgument](
      admin.splitShard(stream.name, shards(stream).head.id, HashKey.Min)
    )
  }

  test("scaling halves or doubles the shards and loses nothing") {
    val stream = newStream(2)
    val keys = (1 to 20).map(i => s"key-$i")
    put(stream, keys.map(entry(_, "1")): _*)
    admin.updateShardCount(stream.name, 4)
    assertTiling(shards(stream, ShardFilter.AtLatest), 4)
    put(stream, keys.map(entry(_, "2")): _*)
    admin.updateShardCount(stream.name, 3)
    assertTiling(shards(stream, ShardFilter.AtLatest), 3)
    put(stream, keys.map(entry(_, "3")): _*)
    val byKey = readAll(stream).groupBy(_.partitionKey.get)
    assert(byKey.keySet == keys.toSet)
    assert(byKey.values.forall(_.map(text) == Seq("1", "2", "3")))
  }

  testIf(capabilities.scalesEvenly, "scaled shards are equal, whatever they were before") {
    val stream = newStream(1)
    admin.splitShard(stream.name, shards(stream).head.id, HashKey(1000))
    Seq(4, 3, 2, 1).foreach { target =>
      admin.updateShardCount(stream.name, target)
      assertEven(shards(stream, ShardFilter.AtLatest), target)
    }
  }

  test("scaling beyond twice or below half is refused") {
    val stream = newStream(4)
    Seq(1, 9).foreach { target =>
      refused[KinesisException.InvalidArgument](admin.updateShardCount(stream.name, target))
    }
  }

  /** The shards own the whole hash key space, in about equal parts. */
  private def assertEven(found: Seq[Shard], count: Int): Unit = {
    assertTiling(found, count)
    val share = HashKeyRange.even(count).head.last.value
    found.map(_.hashKeys).foreach { range =>
      assert((range.last.value - range.first.value - share).abs < 1000)
    }
  }

  private def assertTiling(found: Seq[Shard], count: Int): Unit = {
    val ranges = found.map(_.hashKeys).sortBy(_.first)
    assert(ranges.size == count)
    assert(ranges.reduce(_.merge(_)) == HashKeyRange.All)
    ()
  }

  /** Puts records that arrive in different milliseconds. */
  private def spaced(stream: StreamRef, count: Int): Seq[Record] = {
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
 * @param refusesForeignIterators what is no iterator is an invalid argument, not a failure
 */
final case class Capabilities(
    advance: Option[FiniteDuration => Unit] = None,
    smallShardPages: Boolean = false,
    limitsPutRecords: Boolean = true,
    countsPartitionKeys: Boolean = true,
    scalesEvenly: Boolean = true,
    refusesEmptySplits: Boolean = true,
    refusesForeignIterators: Boolean = true
)
