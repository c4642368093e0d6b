package sparkkinesis.source.query

import java.time.Instant

import scala.collection.immutable.SortedMap
import scala.concurrent.duration._
import scala.util.{Failure, Success, Try}

import org.apache.logging.log4j.Level
import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.client.{KinesisException, Moment}
import sparkkinesis.model._
import sparkkinesis.model.offset.{Progress, ShardProgress, StreamOffset}
import sparkkinesis.shard.SourceException
import sparkkinesis.source.ScriptedKinesis.{Created, Gone, Throttled, summary}
import sparkkinesis.source.checkpoint.QueryStreamSuite
import sparkkinesis.source.watch.{AuditFindings, AuditState}
import sparkkinesis.spark.LogTap

class StreamWatchSuite extends AnyFunSuite {
  private val interval = 10.seconds
  private val two = newStream(2)
  private val (a, b) = (two(0), two(1))

  private def offsetOf(shards: (ShardId, ShardProgress)*) =
    StreamOffset(arn, Created, SortedMap(shards: _*))

  private def unread(waitsFor: ShardId*) = ShardProgress(Progress.TrimHorizon, waitsFor.toSet)
  private val whole = offsetOf(a.id -> unread(), b.id -> unread())
  private val half = offsetOf(a.id -> unread())
  private val unlisted = offsetOf(a.id -> unread(), shardId(8) -> unread(shardId(7)))

  /** A watch, and a service whose answers the test changes. The time of day stands still. */
  private class Scene(
      failOnDataLoss: Boolean = true,
      interval: FiniteDuration = interval
  ) {
    var shards: Seq[Shard] = two
    var failing: Option[Throwable] = None
    var created: Instant = Created
    var retention: FiniteDuration = 24.hours
    var gone: Set[ShardId] = Set.empty[ShardId]
    var onListing: () => Unit = () => ()
    var described = 0
    var listed = 0
    var asked: Vector[ShardId] = Vector.empty[ShardId]
    var now: Moment = Moment(Instant.EPOCH, Instant.EPOCH)
    val watch = new StreamWatch(
      QueryStreamSuite.described,
      failOnDataLoss,
      interval,
      Some(5.minutes),
      () => 0.5
    )

    def pass(time: FiniteDuration): Unit =
      now = now.copy(steady = now.steady.plusMillis(time.toMillis))

    /** Time passes, and what is due begins. */
    def begin(later: FiniteDuration = interval): Option[Command] = {
      pass(later)
      watch.tick(now).reduceOption((one, more) => fail(s"It wants $one and $more."))
    }

    /** Time passes, and an inspection that is due is carried out at once. */
    def inspect(later: FiniteDuration = interval): Unit = {
      pass(later)
      watch.tick(now).foreach(it => carryOut(Some(it)))
    }

    /** Time passes until an inspection is carried out. Returns how long that took. */
    def next(): FiniteDuration = {
      val before = listed
      val seconds = (1 to 600).find { _ =>
        inspect(1.second)
        listed > before
      }
      seconds.getOrElse(fail("No inspection begins.")).seconds
    }

    def carryOut(command: Option[Command]): Unit = command.foreach {
      case Command.List(_) =>
        listed += 1
        onListing()
        carryOut(watch.listed(answer(shards), now))
      case Command.Probe(_, ids) =>
        asked ++= ids
        carryOut(watch.probed(answer(ids.forall(gone)), now))
      case Command.Describe(_) =>
        described += 1
        carryOut(watch.described(answer(summary(created = created, retention = retention)), now))
      case other => fail(s"It wants $other.")
    }

    private def answer[A](value: A): Try[A] = failing.fold[Try[A]](Success(value))(Failure(_))

    def refusal: SourceException = intercept[SourceException](watch.check())
  }

  private def watching(offset: StreamOffset, failOnDataLoss: Boolean = true): Scene = {
    val scene = new Scene(failOnDataLoss)
    scene.watch.advance(offset)
    scene
  }

  test("without findings an inspection lists the shards once and makes no other call") {
    val scene = watching(whole)
    scene.inspect()
    (1 to 4).foreach(_ => assert(scene.next() === interval))
    scene.watch.check()
    assert(scene.watch.repair(whole) eq whole)
    assert(scene.listed === 5 && scene.described === 0 && scene.asked.isEmpty)
  }

  test("every hour the stream is described, because its retention period may have changed") {
    val scene = watching(whole)
    scene.retention = 48.hours
    (1 to 359).foreach(_ => scene.inspect())
    assert(scene.described === 0 && scene.watch.retained === 24.hours)
    scene.inspect(20.seconds)
    assert(scene.described === 1 && scene.watch.retained === 48.hours)
    (1 to 359).foreach(_ => scene.inspect())
    assert(scene.described === 1)
  }

  test("a description that does not find the stream counts only if a listing says the same") {
    val scene = watching(whole)
    scene.inspect()
    val gone = Failure(new KinesisException.NotFound("no such stream"))
    scene.watch.described(gone, scene.now)
    scene.watch.check()
    assert(scene.begin(0.seconds) === Some(Command.List(arn)), "at once")
    scene.watch.listed(gone, scene.now)
    scene.watch.described(gone, scene.now)
    assert(scene.refusal.condition === "KINESIS_STREAM_DELETED")
  }

  test("before the first batch there is nothing to inspect, and then it is inspected at once") {
    val scene = new Scene
    assert(scene.begin().isEmpty)
    scene.watch.advance(whole)
    assert(scene.begin(0.seconds) === Some(Command.List(arn)))
  }

  test("while an inspection is under way no second one begins") {
    val scene = watching(half)
    import scene.{begin, now, watch}
    assert(begin().nonEmpty && begin(20.minutes).isEmpty)
    watch.advance(half)
    assert(begin().isEmpty)
    assert(watch.listed(Success(two), now) === Some(Command.Describe(arn)))
    assert(begin(20.minutes).isEmpty)
    assert(watch.described(Success(summary()), now).isEmpty)
    assert(begin(interval - 1.milli).isEmpty && begin(1.milli).nonEmpty)
  }

  test("an answer that arrives twice, or for an inspection that is over, changes nothing") {
    val scene = watching(half)
    import scene.{begin, now, watch}
    def repeat() = {
      assert(watch.listed(Success(two), now).isEmpty && watch.listed(Failure(Gone), now).isEmpty)
      assert(watch.probed(Success(true), now).isEmpty && watch.probed(Failure(Gone), now).isEmpty)
    }
    begin()
    assert(watch.listed(Success(two), now) === Some(Command.Describe(arn)))
    repeat()
    assert(watch.described(Success(summary()), now).isEmpty)
    scene.pass(interval)
    repeat()
    assert(watch.described(Success(summary()), now).isEmpty)
    assert(watch.described(Failure(Throttled), now).isEmpty)
    watch.check()
    assert(watch.failedListings === 0 && begin(0.seconds) === Some(Command.List(arn)))
  }

  test("a late answer of an inspection that began before `advance` is harmless") {
    val outdated = watching(half)
    outdated.onListing = () => outdated.watch.advance(whole)
    (1 to 3).foreach(_ => outdated.inspect())
    outdated.watch.check()
    val early = watching(whole)
    early.onListing = () => early.watch.advance(offsetOf(shardId(2) -> unread()))
    early.inspect()
    assert(early.watch.isSettled, "the listing is compared with the offset before it")
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

  test("inspections within an interval, minus jitter, count as one") {
    val found = AuditFindings(Seq(b), Nil)
    def confirmed(later: FiniteDuration) = AuditState.Initial
      .conclusive(found, Instant.EPOCH)
      .conclusive(found, Instant.EPOCH.plusMillis(later.toMillis))
      .confirmed(interval)
    assert(confirmed(8.seconds).isEmpty && confirmed(9.seconds) === Some(found))
  }

  test("a finding that disappears is dropped") {
    val scene = watching(half)
    scene.inspect()
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
    strict.gone = Set(shardId(7))
    (1 to 2).foreach(_ => strict.inspect())
    assert(strict.refusal.condition === "KINESIS_DATA_LOSS")
    assert(strict.refusal.getMessage.contains(s"${b.id} waits for ${shardId(7)}"))
    val lenient = watching(waiting, failOnDataLoss = false)
    lenient.gone = Set(shardId(7))
    (1 to 2).foreach(_ => lenient.inspect())
    assert(lenient.watch.repair(waiting).shards === whole.shards)
  }

  test("for a waiting shard that is not listed, the service confirms whether it exists") {
    val late = watching(unlisted)
    (1 to 3).foreach(_ => late.inspect())
    late.watch.check()
    assert(late.asked.toSet === Set(shardId(7), shardId(8)))
    val gone = watching(unlisted)
    gone.gone = Set(shardId(7), shardId(8))
    (1 to 2).foreach(_ => gone.inspect())
    assert(gone.refusal.condition === "KINESIS_DATA_LOSS")
  }

  test("a failed listing is counted and repeated less and less often, and the query continues") {
    val scene = watching(whole)
    scene.failing = Some(new KinesisException.LimitExceeded("too many calls"))
    scene.inspect()
    val pauses = (1 to 8).map(_ => scene.next())
    assert(pauses === pauses.sorted && pauses.head === interval && pauses.last > 1.minute)
    scene.watch.check()
    assert(scene.watch.failedListings === 9 && scene.described === 0)
    scene.failing = None
    scene.next()
    assert(scene.next() === interval && scene.next() === interval)
  }

  test("an inspection confirms nothing if one of its calls fails") {
    val scene = watching(unlisted)
    import scene.{begin, now, watch}
    scene.gone = Set(shardId(7), shardId(8))
    scene.inspect()
    val unreachable = Failure(new KinesisException.Unreachable("no answer"))
    begin()
    assert(watch.listed(unreachable, now).isEmpty)
    begin()
    assert(watch.listed(Success(two), now) === Some(Command.Probe(arn, scene.gone)))
    assert(watch.probed(unreachable, now).isEmpty)
    begin()
    watch.listed(Success(two), now)
    assert(watch.probed(Success(true), now) === Some(Command.Describe(arn)))
    assert(watch.described(unreachable, now).isEmpty)
    watch.check()
    assert(watch.failedListings === 3)
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
    def explain() = {
      val command = scene.watch.explain()
      assert(scene.watch.mayExplain)
      scene.carryOut(Some(command))
      assert(!scene.watch.mayExplain)
    }
    explain()
    scene.failing = Some(new KinesisException.LimitExceeded("too many calls"))
    explain()
    scene.watch.check()
    scene.failing = None
    scene.created = Instant.ofEpochMilli(1)
    explain()
    assert(scene.refusal.condition === "KINESIS_STREAM_RECREATED")
  }

  test("a run that is about to end waits for a conclusive inspection for a limited time") {
    def settled(scene: Scene): Boolean = {
      scene.next()
      scene.watch.isSettled
    }
    assert(new Scene().watch.isSettled, "there is nothing to inspect")

    val fine = watching(whole)
    assert(!fine.watch.isSettled, "there was no inspection yet")
    assert(settled(fine))

    val amiss = watching(half, failOnDataLoss = false)
    assert(!settled(amiss) && !settled(amiss))
    val repaired = amiss.watch.repair(half)
    assert(repaired.shards === whole.shards)
    amiss.watch.advance(repaired)
    assert(!amiss.watch.isSettled && settled(amiss))

    val late = watching(whole)
    late.shards = Seq(a.copy(hashKeys = HashKeyRange.All))
    late.inspect()
    assert(!late.watch.isSettled)
    val unclear = (1 to 3).map(_ => late.next() -> late.watch.isSettled)
    val expected = Seq(interval -> false, 1.second -> true, interval -> true)
    assert(unclear === expected, "repeated soon while the run waits, three times in all")

    val failing = watching(whole)
    failing.failing = Some(new KinesisException.LimitExceeded("too many calls"))
    assert(settled(failing))
    val suspicious = watching(half)
    suspicious.inspect()
    suspicious.failing = Some(new KinesisException.LimitExceeded("too many calls"))
    assert(Seq.fill(4)(settled(suspicious)) === Seq(false, false, false, true))
  }

  private val (left, right) = b.hashKeys.splitAt(HashKey(b.hashKeys.first.value + 5))
  private val closed = b.copy(last = Some(SequenceNumber("99")))
  private val firstHalf = Shard(shardId(8), Seq(b.id), left, b.first, None)
  private val secondHalf = Shard(shardId(9), Seq(b.id), right, b.first, None)
  private val hidden = Seq(a, closed, firstHalf) // without `secondHalf`
  private val split = offsetOf(a.id -> unread(), firstHalf.id -> unread())

  private def warnings(body: => Any): Seq[String] =
    LogTap
      .of(classOf[StreamWatch])(body)
      .filter(_.getLevel == Level.WARN)
      .map(_.getMessage.getFormattedMessage)
      .filter(_.contains("ListShards"))

  test("hash keys that a listing leaves out are named within 30 s, and fail the query in the end") {
    val scene = watching(split)
    scene.shards = hidden
    val said = warnings((1 to 30).foreach(_ => scene.inspect(1.second)))
    assert(said.size === 2 && said.forall(_.contains(s"$right")), said)
    assert(scene.watch.listingHoles === 1 && !scene.watch.isSettled)
    (1 to 270).foreach(_ => scene.inspect(1.second))
    scene.watch.check()
    (1 to 30).foreach(_ => scene.inspect(1.second))
    assert(scene.refusal.condition === "KINESIS_INCOMPLETE_SHARD_LIST")
    Seq(stream.toString, s"$right", "retryTimeout", "5 minutes").foreach { word =>
      assert(scene.refusal.getMessage.contains(word))
    }
  }

  test("a hole that closes, or that moves on, neither warns nor fails the query") {
    val scene = watching(split)
    val said = warnings {
      (1 to 60).foreach { number =>
        scene.shards =
          if (number % 2 == 0) hidden else Seq(a, closed, secondHalf.copy(id = firstHalf.id))
        scene.next()
      }
    }
    assert(said.isEmpty)
    scene.watch.check()
    scene.watch.advance(whole)
    scene.shards = two
    scene.next()
    assert(scene.watch.listingHoles === 0 && scene.watch.isSettled)
  }

  test("while a listing leaves hash keys out it is repeated soon, whatever the interval") {
    val scene = new Scene(interval = 5.minutes)
    scene.watch.advance(split)
    scene.shards = hidden
    scene.inspect()
    assert(scene.next() === 10.seconds)
    scene.shards = two
    scene.watch.advance(whole)
    scene.next()
    assert(scene.next() === 5.minutes)
  }

  test("a listing that also lacks a shard of the query warns, but does not fail it") {
    val scene = watching(offsetOf(a.id -> unread(), shardId(8) -> unread(), shardId(9) -> unread()))
    scene.shards = Seq(a, closed)
    val said = warnings((1 to 600).foreach(_ => scene.inspect(1.second)))
    assert(said.nonEmpty && said.forall(_.contains(s"${b.hashKeys}")))
    scene.watch.check()
  }

  test("a parent that is not listed, but exists, is named, and fails the query in the end") {
    val scene = watching(offsetOf(a.id -> unread(), b.id -> unread(shardId(7))), false)
    val said = warnings((1 to 30).foreach(_ => scene.inspect(1.second)))
    assert(said.nonEmpty && said.forall(_.contains(shardId(7).name)))
    scene.watch.check()
    (1 to 300).foreach(_ => scene.inspect(1.second))
    assert(scene.refusal.condition === "KINESIS_INCOMPLETE_SHARD_LIST")
  }

  test("an inspection that can never work again fails the query, and an interrupt does not") {
    val scene = watching(whole)
    scene.failing = Some(new InterruptedException("by a library"))
    scene.inspect()
    assert(scene.next() === interval && scene.watch.failedListings === 2)
    scene.watch.check()
    scene.failing = Some(new OutOfMemoryError("heap"))
    scene.next()
    assert(scene.watch.hasFailed && scene.refusal.condition === "KINESIS_INTERNAL_ERROR")
  }
}
