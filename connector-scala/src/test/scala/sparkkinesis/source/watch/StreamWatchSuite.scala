package sparkkinesis.source.watch

import java.time.Instant
import java.util.concurrent.atomic.AtomicInteger

import scala.collection.immutable.SortedMap
import scala.concurrent.duration._

import org.scalatest.concurrent.Eventually
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Seconds, Span}

import sparkkinesis.Generators._
import sparkkinesis.client._
import sparkkinesis.model._
import sparkkinesis.model.offset.{Progress, ShardProgress, SourceOffset, StreamOffset}
import sparkkinesis.source.ScriptedKinesis.{Gone, listing, summary}
import sparkkinesis.source.{ReadOnlyKinesis, SourceException, StreamClient}

class StreamWatchSuite extends AnyFunSuite with Eventually {
  private val interval = 10.seconds
  private val two = newStream(2)
  private val (a, b) = (two(0), two(1))

  private def offsetOf(shards: (ShardId, ShardProgress)*) =
    StreamOffset(arn, Instant.EPOCH, SortedMap(shards: _*))

  private def unread(waitsFor: ShardId*) = ShardProgress(Progress.TrimHorizon, waitsFor.toSet)
  private val whole = offsetOf(a.id -> unread(), b.id -> unread())
  private val half = offsetOf(a.id -> unread())

  /** A service whose answers the test changes, and a watch that inspects it. */
  private class Scene(failOnDataLoss: Boolean = true) extends ReadOnlyKinesis {
    @volatile var shards: Seq[Shard] = two
    @volatile var failing: Option[Throwable] = None
    var created: Instant = Instant.EPOCH
    var gone: Set[ShardId] = Set.empty[ShardId]
    var onListing: () => Unit = () => ()
    var described = 0
    val listed = new AtomicInteger
    var asked: Vector[ShardId] = Vector.empty[ShardId]
    var now: Instant = Instant.EPOCH
    val watch = new StreamWatch(StreamClient(stream, this), failOnDataLoss, interval, () => 0.5)

    override def describeStream(stream: StreamRef): StreamSummary = {
      described += 1
      failing.foreach(e => throw e)
      summary(created = created)
    }

    override def listShards(request: ListShardsRequest): ShardListing = {
      listed.incrementAndGet()
      onListing()
      failing.foreach(e => throw e)
      listing(shards: _*)
    }

    override def shardIterator(s: StreamRef, shard: ShardId, p: Position): ShardIterator = {
      asked :+= shard
      if (gone(shard)) throw Gone
      ShardIterator("any")
    }

    def inspect(later: FiniteDuration = interval): FiniteDuration = {
      now = now.plusMillis(later.toMillis)
      watch.inspect(now)
    }

    def refusal: SourceException = intercept[SourceException](watch.check())
  }

  private def watching(offset: StreamOffset, failOnDataLoss: Boolean = true): Scene = {
    val scene = new Scene(failOnDataLoss)
    scene.watch.advance(offset)
    scene
  }

  test("without findings an inspection lists the shards once and makes no other call") {
    val scene = watching(whole)
    (1 to 5).foreach(_ => assert(scene.inspect() === interval))
    scene.watch.check()
    assert(scene.watch.repair(whole) eq whole)
    assert(scene.listed.get === 5 && scene.described === 0 && scene.asked.isEmpty)
  }

  test("before the first batch there is nothing to inspect") {
    val scene = new Scene
    assert(scene.inspect() === 1.second && scene.listed.get === 0)
  }

  test("a shard that would never be read fails the query when it is found twice") {
    val scene = watching(half)
    scene.inspect()
    scene.watch.check()
    scene.inspect()
    assert(scene.refusal.condition === "KINESIS_SHARD_MISSING")
    Seq(stream.toString, b.id.name, b.hashKeys.toString, "failOnDataLoss").foreach { word =>
      assert(scene.refusal.getMessage.contains(word))
    }
  }

  test("a shard whose parents expired before they were read is a loss") {
    val scene = watching(half)
    scene.shards = Seq(a, b.copy(parents = Seq(shardId(7))))
    (1 to 2).foreach(_ => scene.inspect())
    assert(scene.refusal.condition === "KINESIS_DATA_LOSS")
    assert(scene.refusal.getMessage.contains(shardId(7).name))
  }

  test("inspections within an interval count as one; a finding that disappears is dropped") {
    val scene = watching(half)
    (1 to 8).foreach(_ => scene.inspect(1.second))
    scene.watch.check()
    scene.watch.advance(whole)
    scene.inspect()
    scene.watch.advance(half)
    scene.inspect()
    scene.watch.check()
    scene.inspect()
    assert(scene.refusal.condition === "KINESIS_SHARD_MISSING")
  }

  test("with `failOnDataLoss` set to `false` the shard is added to the next offset, once") {
    val scene = watching(half, failOnDataLoss = false)
    scene.inspect()
    assert(scene.watch.repair(half) eq half)
    scene.inspect()
    scene.watch.check()
    val repaired = scene.watch.repair(half)
    assert(repaired.shards === half.shards.updated(b.id, unread()))
    assert(scene.watch.lostRanges === 1)
    assert(scene.watch.repair(half) eq half)
    scene.watch.advance(repaired)
    (1 to 3).foreach(_ => scene.inspect())
    assert(scene.watch.repair(repaired) eq repaired)
  }

  test("an inspection that started before the repair does not repair again") {
    val scene = watching(half, failOnDataLoss = false)
    (1 to 2).foreach(_ => scene.inspect())
    var repaired = half
    scene.onListing = () => repaired = scene.watch.repair(half)
    scene.inspect()
    scene.onListing = () => ()
    assert(repaired ne half)
    // A long batch runs before the repaired offset starts one, and the shard is read to its end.
    (1 to 5).foreach(_ => scene.inspect())
    assert((scene.watch.repair(half) eq half) && scene.watch.lostRanges === 1)
    scene.watch.advance(whole)
    (1 to 3).foreach(_ => scene.inspect())
    assert(scene.watch.repair(half) eq half)
  }

  test("a shard that waits for an expired parent is unblocked, or fails the query") {
    val waiting = offsetOf(a.id -> unread(), b.id -> unread(shardId(7)))
    val strict = watching(waiting)
    (1 to 2).foreach(_ => strict.inspect())
    assert(strict.refusal.condition === "KINESIS_DATA_LOSS")
    assert(strict.refusal.getMessage.contains(s"${b.id} waits for ${shardId(7)}"))
    val lenient = watching(waiting, failOnDataLoss = false)
    (1 to 2).foreach(_ => lenient.inspect())
    assert(lenient.watch.repair(waiting).shards === whole.shards)
  }

  test("for a waiting shard that is not listed, the service confirms whether it exists") {
    val waiting = offsetOf(a.id -> unread(), shardId(8) -> unread(shardId(7)))
    val late = watching(waiting)
    (1 to 3).foreach(_ => late.inspect())
    late.watch.check()
    assert(late.asked === Vector.fill(3)(shardId(8)))
    val gone = watching(waiting)
    gone.gone = Set(shardId(8))
    (1 to 2).foreach(_ => gone.inspect())
    assert(gone.refusal.condition === "KINESIS_DATA_LOSS")
  }

  test("a failed listing is counted and repeated less and less often, and the query continues") {
    val scene = watching(whole)
    scene.failing = Some(new KinesisException.LimitExceeded("too many calls"))
    val pauses = (1 to 8).map(_ => scene.inspect())
    assert(pauses === pauses.sorted && pauses.head === interval && pauses.last > 1.minute)
    scene.watch.check()
    assert(scene.watch.failedListings === 8 && scene.described === 0)
    scene.failing = None
    assert(scene.inspect() === interval && scene.inspect() === interval)
  }

  test("a failed inspection confirms nothing") {
    val scene = watching(half)
    scene.inspect()
    scene.failing = Some(new KinesisException.Unreachable("no answer"))
    scene.inspect()
    scene.watch.check()
  }

  test("a stream that was deleted or recreated fails the query with that condition") {
    val deleted = watching(whole)
    deleted.inspect()
    deleted.failing = Some(Gone)
    deleted.inspect()
    assert(deleted.refusal.condition === "KINESIS_STREAM_DELETED")
    assert(deleted.refusal.getMessage.contains(arn.toString))

    val again = Instant.parse("2026-01-02T00:00:00Z")
    def renewed(offset: StreamOffset)(change: Scene => Unit) = {
      val scene = watching(offset)
      scene.inspect()
      change(scene)
      scene.created = again
      scene.inspect()
      assert(scene.refusal.condition === "KINESIS_STREAM_RECREATED")
      assert(scene.refusal.getMessage.contains(again.toString))
    }
    renewed(whole)(scene => scene.shards = two.map(_.copy(first = SequenceNumber("77"))))
    val read = ShardProgress(Progress.After(SequenceNumber("5")), Set.empty)
    renewed(offsetOf(a.id -> read, b.id -> read)) { scene =>
      scene.shards = Seq(a.copy(first = SequenceNumber("6")), b)
    }
    renewed(whole)(scene => scene.shards = newStream(3))
  }

  test("a recreated stream explains a failure elsewhere, and otherwise that failure is kept") {
    val scene = watching(whole)
    scene.watch.explain(whole)
    scene.failing = Some(new KinesisException.LimitExceeded("too many calls"))
    scene.watch.explain(whole)
    scene.failing = None
    scene.created = Instant.ofEpochMilli(1)
    val e = intercept[SourceException](scene.watch.explain(whole))
    assert(e.condition === "KINESIS_STREAM_RECREATED")
  }

  test("a run that is about to end waits for a conclusive inspection for a limited time") {
    def settled(scene: Scene, later: FiniteDuration = 1.second): Boolean = {
      scene.inspect(later)
      scene.watch.isSettled
    }
    assert(new Scene().watch.isSettled, "there is nothing to inspect")

    val fine = watching(whole)
    assert(!fine.watch.isSettled, "there was no inspection yet")
    assert(settled(fine))

    val amiss = watching(half, failOnDataLoss = false)
    assert(!settled(amiss) && !settled(amiss) && !settled(amiss, interval))
    val repaired = amiss.watch.repair(half)
    assert(repaired.shards === whole.shards)
    amiss.watch.advance(repaired)
    assert(settled(amiss))

    val late = watching(whole)
    late.shards = Seq(a.copy(hashKeys = HashKeyRange.All))
    val unclear = (1 to 4).map(_ => late.inspect() -> late.watch.isSettled)
    val expected = Seq(interval -> false, 1.second -> false, interval -> true, interval -> true)
    assert(unclear === expected, "repeated soon while the run waits, three times in all")

    val failing = watching(whole)
    failing.failing = Some(new KinesisException.LimitExceeded("too many calls"))
    assert(settled(failing))
    val suspicious = watching(half)
    suspicious.inspect()
    suspicious.failing = Some(new KinesisException.LimitExceeded("too many calls"))
    assert(Seq.fill(4)(settled(suspicious)) === Seq(false, false, false, true))
  }

  test("the service inspects in a daemon thread until it is closed") {
    val scene = watching(whole)
    val quick = new StreamWatch(StreamClient(stream, scene), true, 1.milli, () => 0.5)
    def threads = {
      val all = Thread.getAllStackTraces.keySet.toArray(Array.empty[Thread])
      all.filter(_.getName == "spark-kinesis-discovery").toSet
    }
    val others = threads
    val service = new WatchService(Map(arn -> quick), SystemClock)
    service.advance(SourceOffset.of(Seq(whole)))
    val patience = timeout(Span(20, Seconds))
    eventually(patience)(assert(scene.listed.get > 10))
    val own = threads.diff(others)
    assert(own.size === 1 && own.forall(_.isDaemon))
    service.close()
    eventually(patience)(assert(!own.exists(_.isAlive)))
  }

  test("an inspection that can never work again fails the query, and an interrupt does not") {
    val scene = watching(whole)
    scene.failing = Some(new InterruptedException("by a library"))
    val quick = new StreamWatch(StreamClient(stream, scene), true, 1.milli, () => 0.5)
    val service = new WatchService(Map(arn -> quick), SystemClock)
    val patience = timeout(Span(20, Seconds))
    try {
      service.advance(SourceOffset.of(Seq(whole)))
      eventually(patience)(assert(service.failedListings > 2))
      scene.failing = None
      eventually(patience)(assert(scene.listed.get > 2))
      scene.failing = Some(new OutOfMemoryError("heap"))
      eventually(patience) {
        val thrown = intercept[SourceException](service.advance(SourceOffset.of(Seq(whole))))
        assert(thrown.condition === "KINESIS_INTERNAL_ERROR")
      }
    } finally service.close()
  }
}
