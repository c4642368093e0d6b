package sparkkinesis.shard.feed

import scala.concurrent.duration._

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.Generators._
import sparkkinesis.client.{KinesisClient, KinesisException}
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{ChildShard, HashKeyRange, Position, SequenceNumber, Shard}
import sparkkinesis.shard.{DataLossException, ReadSettings, ReadUntil, ShardRange, StreamClient}
import sparkkinesis.sink.FastClock
import sparkkinesis.source.ScriptedKinesis._
import sparkkinesis.source.{OneShard, ScriptedKinesis}

class ShardRangeReaderSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val shard = shardOf(0)
  private val settings =
    ReadSettings(3, 200.millis, 1.second)

  private def read(
      kinesis: KinesisClient,
      range: ShardRange,
      settings: ReadSettings = settings,
      clock: FastClock = new FastClock,
      isCancelled: () => Boolean = () => false
  ): Vector[Int] = {
    val asked = Iterator.from(1)
    def isOver(): Boolean = {
      assert(asked.next() < 10000, "it reads for ever")
      isCancelled()
    }
    new ShardRangeReader(StreamClient(stream, kinesis), settings, clock, () => isOver())
      .pages(range)
      .flatMap(_._2)
      .map(_.sequenceNumber.text.toInt)
      .toVector
  }

  private def place(number: Int): Progress =
    if (number == 0) Progress.TrimHorizon else Progress.After(SequenceNumber(number.toString))

  private def range(from: Int, upTo: Int) = ShardRange(shard, place(from), place(upTo))

  private val cuts = for {
    size <- Gen.choose(1, 20)
    from <- Gen.choose(0, size - 1)
    upTo <- Gen.choose(from + 1, size)
    page <- Gen.choose(1, 7)
    isClosed <- Gen.oneOf(true, false)
  } yield (size, from, upTo, page, isClosed)

  test("a range returns exactly its records, for any page boundaries") {
    forAll(cuts) { case (size, from, upTo, page, isClosed) =>
      val kinesis = new OneShard(recordsOf(1 to size).toVector, isClosed = isClosed)
      val paged = settings.copy(maxRecords = page)
      assert(read(kinesis, range(from, upTo), paged) === (from + 1 to upTo))
      if (isClosed)
        assert(
          read(
            kinesis,
            ShardRange(shard, place(from), Progress.Finished),
            paged
          ) === (from + 1 to size)
        )
    }
  }

  test("a range has no record twice on a server that returns older records") {
    def older = new ScriptedKinesis().page(page(1 to 4)).page(page(2 to 6))
    assert(read(older, range(2, 6)) === (3 to 6))
    val first = Some(SequenceNumber("3"))
    val start = ShardRange(shard, Progress.TrimHorizon, place(6), first = first)
    assert(read(older, start) === (3 to 6), "the first record is no loss")
  }

  test("a range may start at a time") {
    val kinesis = new OneShard(recordsOf(1 to 9).toVector)
    val at = Progress.AtTimestamp(java.time.Instant.ofEpochMilli(35))
    assert(read(kinesis, ShardRange(shard, at, place(7))) === (4 to 7))
  }

  test("a range of a batch query has the records that arrived in its time, in any order") {
    val falling = Gen.choose(1, 20).flatMap { size =>
      Gen.listOfN(size, Gen.zip(Gen.choose(0L, 9000L), Gen.choose(0L, 1000L))).map { all =>
        val times = all.map(_._1).sorted.zip(all.map(_._2)).map { case (time, fall) => time - fall }
        times.zipWithIndex.map { case (time, index) =>
          record(index + 1L, 1).copy(arrivalMillis = 1000 + time)
        }.toVector
      }
    }
    val times = Gen.choose(0L, 11000L)
    forAll(falling, times, times, Gen.choose(1, 7)) { (records, since, before, page) =>
      val range = ShardRange(
        shard,
        Progress.AtTimestamp(java.time.Instant.ofEpochMilli(since - 1000)),
        Progress.Finished,
        until = Some(ReadUntil(before, withChildren = false)),
        sinceMillis = Some(since)
      )
      val wanted = records.filter(it => it.arrivalMillis >= since && it.arrivalMillis < before)
      val found = read(new OneShard(records), range, settings.copy(maxRecords = page))
      assert(found === wanted.map(_.sequenceNumber.text.toInt))
    }
  }

  test("a range of a batch query ends at its time, or at the tip") {
    forAll(cuts) { case (size, from, upTo, page, isClosed) =>
      val kinesis = new OneShard(recordsOf(1 to size).toVector, isClosed = isClosed)
      val paged = settings.copy(maxRecords = page)
      def before(millis: Long) = {
        val until = Some(ReadUntil(millis, withChildren = false))
        read(kinesis, ShardRange(shard, place(from), Progress.Finished, until = until), paged)
      }
      assert(before(upTo * 10L + 1) === (from + 1 to upTo))
      assert(before(upTo * 10L) === (from + 1 until upTo))
      assert(before(size * 10L + 1) === (from + 1 to size))
    }
  }

  test(
    "a batch query reads empty pages to the tip, and children only at the shard's end"
  ) {
    val child = ChildShard(shardId(9), Seq(shard.shard), HashKeyRange.All)
    def heard(pages: ScriptedKinesis) = {
      val until = Some(ReadUntil(25, withChildren = true))
      val range = ShardRange(shard, place(0), Progress.Finished, until = until)
      val reader = new ShardRangeReader(
        StreamClient(stream, pages),
        settings,
        new FastClock,
        () => false
      )
      val (own, ofChild) = reader.pages(range).toVector.partition(_._1 == shard)
      (own.map(_._2.size).sum, ofChild.map(_._1).distinct)
    }
    val quiet = new ScriptedKinesis().page(page(1 to 0)).page(page(1 to 1)).page(page(2 to 1, 0))
    assert(heard(quiet) === ((1, Nil)))
    val children = Seq(shardOf(9))
    def ended(records: Range) =
      new ScriptedKinesis().page(end(records, child)).page(page(1 to 0, behind = 0))
    assert(heard(ended(1 to 2)) === ((2, children)))
    assert(heard(ended(1 to 3)) === ((2, children)))
    val late = end(1 to 2, child).records :+ record(3, 1).copy(arrivalMillis = 1025)
    val passed = end(1 to 2, child).copy(records = late)
    assert(
      heard(new ScriptedKinesis().page(passed)) === ((2, Nil)),
      "none of theirs arrived before"
    )
  }

  test("on a server that never says how far it is behind, a batch query and a re-read end") {
    def silent(kinesis: ScriptedKinesis) = {
      (1 to 22).foreach(_ => kinesis.page(page(2 to 1).copy(millisBehindLatest = None)))
      kinesis
    }
    val until = Some(ReadUntil(25, withChildren = false))
    val batch = ShardRange(shard, place(0), Progress.Finished, until = until)
    assert(read(silent(new ScriptedKinesis().page(page(1 to 1))), batch) === Seq(1))
    val trimmed = silent(silent(new ScriptedKinesis().page(page(1 to 1)).summary(summary())))
    assertThrows[DataLossException](read(trimmed, range(0, 2)))
  }

  test("a batch query that falls behind the retention period has lost records") {
    val clock = after(30.hours)
    val until = Some(ReadUntil(clock.now.toEpochMilli, withChildren = false))
    val range = ShardRange(shard, place(0), Progress.Finished, until = until)
    def kinesis = new ScriptedKinesis().page(page(1 to 2)).summary(summary()).page(page(3 to 3, 0))
    val loss = intercept[DataLossException](read(kinesis, range, clock = clock))
    assert(loss.getMessage.contains("1970-01-01T00:00:00.020Z"))
    val lenient = settings.copy(failOnDataLoss = false)
    assert(read(kinesis.page(page(4 to 3, 0)), range, lenient, clock) === (1 to 3))
  }

  test("calls to a shard keep the minimum period that the service allows") {
    val clock = new FastClock
    read(new OneShard(recordsOf(1 to 9).toVector), range(0, 9), clock = clock)
    assert(clock.now.toEpochMilli === 400, "three pages")
  }

  test("a loss is reported when the last record of a range is trimmed") {
    forAll(Gen.choose(1, 9), Gen.choose(0, 3), Gen.oneOf(true, false)) { (upTo, more, isClosed) =>
      val records = recordsOf(1 to upTo + more).toVector
      val kinesis = new OneShard(records, trimmed = upTo, isClosed = isClosed)
      val loss = intercept[DataLossException](read(kinesis, range(0, upTo)))
      assert(loss.condition === "KINESIS_DATA_LOSS")
      assert(
        Seq(stream.toString, shard.shard.name, s"$upTo", "failOnDataLoss").forall(
          loss.getMessage.contains
        )
      )
      assert(read(kinesis, range(0, upTo), settings.copy(failOnDataLoss = false)) === Seq.empty)
    }
  }

  test("an empty page within a shard is no loss") {
    val kinesis = new ScriptedKinesis().page(page(1 to 0)).page(page(1 to 2)).page(page(3 to 3))
    assert(read(kinesis, range(0, 3)) === (1 to 3))
  }

  test("a shard that no longer exists is a loss") {
    def gone = new ScriptedKinesis()
      .page(page(1 to 2))
      .page(throw Gone)
      .page(throw Gone)
      .listing(listing())
      .listing(listing())
      .summary(summary())
    assertThrows[DataLossException](read(gone, range(0, 3)))
    assert(read(gone, range(0, 3), settings.copy(failOnDataLoss = false)) === Seq(1, 2))
  }

  test("a shard that is listed is not gone, whatever its calls say") {
    val open = newStream(1).head
    val kinesis = new ScriptedKinesis().page(page(1 to 2))
    (1 to 9).foreach(_ => kinesis.page(throw Gone).listing(listing(open)))
    assert(read(kinesis.page(page(3 to 3)), range(0, 3)) === (1 to 3))
  }

  test("a range whose first record is known is judged by that record, and not by the clock") {
    def known(first: Int) = owed.copy(first = Some(SequenceNumber(first.toString)))
    def kinesis = new ScriptedKinesis().page(page(1 to 3)).page(page(1 to 3)).summary(summary())
    assert(read(kinesis, known(1), clock = after(48.hours)) === (1 to 3))
    assertThrows[DataLossException](read(kinesis, known(0), clock = after(1.minute)))
  }

  test("one answer is no loss: a second look, a little later and with another iterator, decides") {
    def first = new ScriptedKinesis().page(page(1 to 2)).summary(summary())
    val doubts = Seq[ScriptedKinesis => ScriptedKinesis](
      _.page(throw Gone).listing(listing()),
      _.page(page(3 to 2, behind = 0)),
      _.page(page(4 to 5)),
      _.page(end(4 to 5, ChildShard(shardId(9), Seq(shard.shard), HashKeyRange.All)))
    )
    doubts.foreach { doubt =>
      val (kinesis, clock) = (doubt(first).page(page(3 to 2)).page(page(3 to 3)), new FastClock)
      assert(read(kinesis, range(0, 3), clock = clock) === (1 to 3))
      val after = Position.AfterSequenceNumber(SequenceNumber("2"))
      assert(kinesis.positions === Seq(Position.TrimHorizon, after))
      assert(clock.now.toEpochMilli === 1500 + 2 * 200)
      assertThrows[DataLossException](read(doubt(doubt(first)), range(0, 3)))
    }
  }

  test("retryable failures are retried, and no record is repeated or missing") {
    val kinesis = new ScriptedKinesis()
      .page(throw Throttled)
      .page(page(1 to 2))
      .page(throw ScriptedKinesis.Expired)
      .page(throw Throttled)
      .page(page(3 to 4))
    assert(read(kinesis, range(0, 4)) === (1 to 4))
    assert(kinesis.positions.last === Position.AfterSequenceNumber(SequenceNumber("2")))
  }

  test("a retry keeps its iterator, so that a walk through empty pages does not start over") {
    val kinesis = new ScriptedKinesis()
    (1 to 30).foreach(_ => kinesis.page(page(1 to 0)).page(throw Throttled))
    assert(read(kinesis.page(page(1 to 1)), range(0, 1)) === Seq(1))
    assert(kinesis.positions === Seq(Position.TrimHorizon))
  }

  test("retryable failures end the read after five minutes, others end it at once") {
    val outage = new ScriptedKinesis()
    (1 to 200).foreach(_ => outage.page(throw new KinesisException.ServiceFailure("no")))
    val clock = new FastClock
    val begin = clock.elapsedMillis
    assertThrows[KinesisException.ServiceFailure](read(outage, range(0, 1), clock = clock))
    val lasted = (clock.elapsedMillis - begin).millis
    assert(lasted > 5.minutes && lasted < 5.minutes + 10.seconds)
    val denied = new ScriptedKinesis().page(throw new KinesisException.AccessDenied("no"))
    assertThrows[KinesisException.AccessDenied](read(denied, range(0, 1)))
  }

  test("throttling ends no read, and is asked again ever more rarely") {
    val busy = new ScriptedKinesis()
    val limit = new KinesisException.LimitExceeded("too many calls")
    (1 to 50).foreach(_ => busy.page(throw Throttled).page(throw limit))
    val clock = new FastClock
    assert(read(busy.page(page(1 to 1)), range(0, 1), clock = clock) === Seq(1))
    assert(clock.elapsedMillis > 90 * 5000, "half of ten seconds between most calls")
  }

  test("calls that fail for longer than the retry timeout end a read; without one, they do not") {
    def failing(times: Int) = {
      val kinesis = new ScriptedKinesis()
      (1 to times).foreach(_ => kinesis.page(throw new KinesisException.Unreachable("down")))
      kinesis.page(page(1 to 3))
    }
    val minute = settings.copy(retryTimeout = Some(1.minute)) // pauses of up to five seconds each
    assert(read(failing(15), range(0, 3), minute) === Vector(1, 2, 3))
    assertThrows[KinesisException.Unreachable](read(failing(20), range(0, 3), minute))
    val endless = settings.copy(retryTimeout = None)
    assert(read(failing(300), range(0, 3), endless) === Vector(1, 2, 3))
  }

  test("an iterator that expired in an outage is replaced, however long the outage was") {
    val kinesis = new ScriptedKinesis()
    (1 to 25).foreach(_ => kinesis.page(throw new KinesisException.ServiceFailure("no")))
    kinesis.page(throw ScriptedKinesis.Expired).page(page(1 to 3))
    assert(read(kinesis, range(0, 3), settings.copy(retryTimeout = None)) === (1 to 3))
  }

  test("a first record that is missing counts once, also if the shard is quiet") {
    val kinesis = new ScriptedKinesis().summary(summary())
    (1 to 5).foreach(_ => kinesis.page(page(2 to 1, behind = 0)))
    val range = ShardRange(shard, place(0), Progress.Finished, first = Some(SequenceNumber("1")))
    val child = ChildShard(shardId(9), Seq(shard.shard), HashKeyRange.All)
    val lenient = settings.copy(failOnDataLoss = false)
    val script = StreamClient(stream, kinesis.page(end(2 to 1, child)))
    val reader = new ShardRangeReader(script, lenient, new FastClock, () => false)
    assert(reader.pages(range).forall(_._2.isEmpty) && reader.lostRanges === 1)
  }

  test("after cancellation there is no further call") {
    val kinesis = new ScriptedKinesis().page(page(1 to 2))
    assertThrows[InterruptedException] {
      read(kinesis, range(0, 9), isCancelled = () => kinesis.asked.nonEmpty)
    }
    assert(kinesis.asked.size === 1)
  }

  private def after(age: FiniteDuration) = {
    val clock = new FastClock
    clock.pass(age)
    clock
  }

  private val owed = range(0, 3).copy(completeAsOf = Some(java.time.Instant.EPOCH))

  test("a range whose start was trimmed is a loss, even if its end still exists") {
    def kinesis = new ScriptedKinesis().summary(summary()).page(page(1 to 3))
    val loss = intercept[DataLossException](read(kinesis, owed, clock = after(25.hours)))
    assert(loss.condition === "KINESIS_DATA_LOSS" && loss.getMessage.contains("1970-01-01"))
    val young = new ScriptedKinesis().page(page(1 to 3))
    assert(read(young, owed, clock = after(24.hours)) === (1 to 3))
    val kept = new ScriptedKinesis().summary(summary(retention = 48.hours)).page(page(1 to 3))
    assert(read(kept, owed, clock = after(25.hours)) === (1 to 3))
    val lenient = settings.copy(failOnDataLoss = false)
    val rest = new ScriptedKinesis().summary(summary()).page(page(2 to 3))
    assert(read(rest, owed, lenient, after(25.hours)) === (2 to 3))
  }

  test("a clock that is an hour wrong does not change whether a range has been trimmed") {
    def kinesis(age: FiniteDuration) = new ScriptedKinesis()
      .summary(summary())
      .page(page(1 to 3).copy(serverTime = Some(java.time.Instant.ofEpochMilli(age.toMillis))))
    assert(read(kinesis(24.hours), owed, clock = after(25.hours)) === (1 to 3))
    assertThrows[DataLossException](read(kinesis(25.hours), owed, clock = after(24.hours)))
  }

  test("the call for the retention period is retried like any other call") {
    val kinesis = new ScriptedKinesis().summary(throw Throttled).summary(summary())
    (1 to 9).foreach(_ => kinesis.page(page(1 to 3)))
    assertThrows[DataLossException](read(kinesis, owed, clock = after(25.hours)))
  }

  test("an end of a shard that is listed as open is not accepted, and the rest is read") {
    val open = newStream(1).head
    val kinesis = new ScriptedKinesis()
      .page(page(1 to 1))
      .page(end(2 to 2))
      .page(end(3 to 2))
      .listing(listing(open))
      .page(end(3 to 2))
      .page(page(3 to 3))
      .page(end(4 to 4, ChildShard(shardId(9), Seq(shard.shard), HashKeyRange.All)))
    assert(read(kinesis, ShardRange(shard, place(0), Progress.Finished)) === (1 to 4))
  }

  test(
    "an end without children in the middle of a closed shard is a mistake, and the rest is read"
  ) {
    val closed = newStream(1).head.copy(last = Some(SequenceNumber("999")))
    val range = ShardRange(shard, place(0), Progress.Finished)
    def kinesis = new ScriptedKinesis().page(end(1 to 1)).page(page(2 to 2)).page(end(3 to 3))
    val child = Shard(shardId(9), Seq(closed.id), closed.hashKeys, closed.first, None)
    def confirmed = kinesis.page(end(4 to 3)).listing(listing(closed, child))
    assert(read(confirmed, range) === (1 to 3))
    val withChildren = range.copy(until = Some(ReadUntil(99, withChildren = true)))
    assert(read(confirmed.page(page(1 to 0, behind = 0)), withChildren) === (1 to 3))
  }
}
