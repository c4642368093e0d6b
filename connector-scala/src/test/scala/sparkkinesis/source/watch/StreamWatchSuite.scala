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

  /** A service whose answers are changed at will, and a watch over it. */
  private class Scene(failOnDataLoss: Boolean = true) extends ReadOnlyKinesis {
    @volatile var shards: Seq[Shard] = two
    @volatile var failing: Option[KinesisException] = None
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

    def look(later: FiniteDuration = interval): FiniteDuration = {
      now = now.plusMillis(later.toMillis)
      watch.look(now)
    }

    def refusal: SourceException = intercept[SourceException](watch.check())
  }

  private def watching(offset: StreamOffset, failOnDataLoss: Boolean = true): Scene = {
    val scene = new Scene(failOnDataLoss)
    scene.watch.planned(offset)
    scene
  }

  test("nothing amiss: one listing a look, and no other call") {
    val scene = watching(whole)
    (1 to 5).foreach(_ => assert(scene.look() === interval))
    scene.watch.check()
    assert(scene.watch.mended(whole) eq whole)
    assert(scene.listed.get === 5 && scene.described === 0 && scene.asked.isEmpty)
  }

  test("before anything is planned there is nothing to look at") {
    val scene = new Scene
    assert(scene.look() === interval && scene.listed.get === 0)
  }

  test("a shard that nobody looks after fails the query once it is found twice") {
    val scene = watching(half)
    scene.look()
    scene.watch.check()
    scene.look()
    assert(scene.refusal.condition === "KINESIS_SHARD_MISSING")
    Seq(stream.toString, b.id.name, b.hashKeys.toString, "failOnDataLoss").foreach { word =>
      assert(scene.refusal.getMessage.contains(word))
    }
  }

  test("what came after shards that have expired unread is a loss") {
    val scene = watching(half)
    scene.shards = Seq(a, b.copy(parents = Seq(shardId(7))))
    (1 to 2).foreach(_ => scene.look())
    assert(scene.refusal.condition === "KINESIS_DATA_LOSS")
    assert(scene.refusal.getMessage.contains(shardId(7).name))
  }

  test("looks closer than the interval count as one; what vanishes in between is forgotten") {
    val scene = watching(half)
    (1 to 8).foreach(_ => scene.look(1.second))
    scene.watch.check()
    scene.watch.planned(whole)
    scene.look()
    scene.watch.planned(half)
    scene.look()
    scene.watch.check()
    scene.look()
    assert(scene.refusal.condition === "KINESIS_SHARD_MISSING")
  }

  test("where losses are passed over the shard joins the next offset, once") {
    val scene = watching(half, failOnDataLoss = false)
    scene.look()
    assert(scene.watch.mended(half) eq half)
    scene.look()
    scene.watch.check()
    val mended = scene.watch.mended(half)
    assert(mended.shards === half.shards.updated(b.id, unread()))
    assert(scene.watch.lostRanges === 1)
    assert(scene.watch.mended(half) eq half)
    scene.watch.planned(mended)
    (1 to 3).foreach(_ => scene.look())
    assert(scene.watch.mended(mended) eq mended)
  }

  test("a look that began before the offset was mended does not mend it again") {
    val scene = watching(half, failOnDataLoss = false)
    (1 to 2).foreach(_ => scene.look())
    var mended = half
    scene.onListing = () => mended = scene.watch.mended(half)
    scene.look()
    scene.onListing = () => ()
    assert(mended ne half)
    // A long batch runs before the mended offset begins one, and the shard is read to its end.
    (1 to 5).foreach(_ => scene.look())
    assert((scene.watch.mended(half) eq half) && scene.watch.lostRanges === 1)
    scene.watch.planned(whole)
    (1 to 3).foreach(_ => scene.look())
    assert(scene.watch.mended(half) eq half)
  }

  test("a shard that waits for one that has expired is released, or fails the query") {
    val waiting = offsetOf(a.id -> unread(), b.id -> unread(shardId(7)))
    val strict = watching(waiting)
    (1 to 2).foreach(_ => strict.look())
    assert(strict.refusal.condition === "KINESIS_DATA_LOSS")
    assert(strict.refusal.getMessage.contains(s"${b.id}, which waits for ${shardId(7)}"))
    val lenient = watching(waiting, failOnDataLoss = false)
    (1 to 2).foreach(_ => lenient.look())
    assert(lenient.watch.mended(waiting).shards === whole.shards)
  }

  test("a waiting shard that is not listed: the service is asked whether it is gone") {
    val waiting = offsetOf(a.id -> unread(), shardId(8) -> unread(shardId(7)))
    val late = watching(waiting)
    (1 to 3).foreach(_ => late.look())
    late.watch.check()
    assert(late.asked === Vector.fill(3)(shardId(8)))
    val gone = watching(waiting)
    gone.gone = Set(shardId(8))
    (1 to 2).foreach(_ => gone.look())
    assert(gone.refusal.condition === "KINESIS_DATA_LOSS")
  }

  test("a listing that fails stops nothing: it is asked less and less often, and counted") {
    val scene = watching(whole)
    scene.failing = Some(new KinesisException.LimitExceeded("too many calls"))
    val pauses = (1 to 8).map(_ => scene.look())
    assert(pauses === pauses.sorted && pauses.head === interval && pauses.last > 1.minute)
    scene.watch.check()
    assert(scene.watch.failedListings === 8 && scene.described === 0)
    scene.failing = None
    assert(scene.look() === interval && scene.look() === interval)
  }

  test("a failed look is no second finding") {
    val scene = watching(half)
    scene.look()
    scene.failing = Some(new KinesisException.Unreachable("no answer"))
    scene.look()
    scene.watch.check()
  }

  test("a stream that was deleted, or made again, is told so") {
    val deleted = watching(whole)
    deleted.look()
    deleted.failing = Some(Gone)
    deleted.look()
    assert(deleted.refusal.condition === "KINESIS_STREAM_DELETED")
    assert(deleted.refusal.getMessage.contains(arn.toString))

    val again = Instant.parse("2026-01-02T00:00:00Z")
    def renewed(offset: StreamOffset)(change: Scene => Unit) = {
      val scene = watching(offset)
      scene.look()
      change(scene)
      scene.created = again
      scene.look()
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

  test("a failure elsewhere is explained by a stream made again; else it is left to speak") {
    val scene = watching(whole)
    scene.watch.explain(whole)
    scene.failing = Some(new KinesisException.LimitExceeded("too many calls"))
    scene.watch.explain(whole)
    scene.failing = None
    scene.created = Instant.ofEpochMilli(1)
    val e = intercept[SourceException](scene.watch.explain(whole))
    assert(e.condition === "KINESIS_STREAM_RECREATED")
  }

  test("a run that is about to end waits for a look that settles everything, but not for ever") {
    def settled(scene: Scene, offset: StreamOffset, later: FiniteDuration = 1.second) = {
      scene.now = scene.now.plusMillis(later.toMillis)
      scene.watch.hasSettled(offset, scene.now)
    }
    val fine = new Scene
    assert(settled(fine, whole) && settled(fine, whole) && fine.listed.get === 1)

    val amiss = new Scene(failOnDataLoss = false)
    assert(!settled(amiss, half) && !settled(amiss, half) && !settled(amiss, half, interval))
    val mended = amiss.watch.mended(half)
    assert(mended.shards === whole.shards && settled(amiss, mended))

    val late = new Scene
    late.shards = Seq(a.copy(hashKeys = HashKeyRange.All))
    assert(!settled(late, whole) && !settled(late, whole) && settled(late, whole))

    val failing = new Scene
    failing.failing = Some(new KinesisException.LimitExceeded("too many calls"))
    assert(settled(failing, whole))
  }

  test("the service looks in a daemon thread, whatever happens, until it is closed") {
    val scene = watching(whole)
    val quick = new StreamWatch(StreamClient(stream, scene), true, 1.milli, () => 0.5)
    def threads = {
      val all = Thread.getAllStackTraces.keySet.toArray(Array.empty[Thread])
      all.filter(_.getName == "spark-kinesis-discovery").toSet
    }
    val others = threads
    val service = new WatchService(Map(arn -> quick), SystemClock)
    service.planned(SourceOffset.of(Seq(whole)))
    val patience = timeout(Span(20, Seconds))
    eventually(patience)(assert(scene.listed.get > 10))
    val own = threads.diff(others)
    assert(own.size === 1 && own.forall(_.isDaemon))
    service.close()
    eventually(patience)(assert(!own.exists(_.isAlive)))
  }
}
