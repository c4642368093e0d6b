package sparkkinesis.shard.pace

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators.{record, shardId}
import sparkkinesis.client.{KinesisException, Page, ShardIterator}
import sparkkinesis.source.ScriptedKinesis.Throttled

/**
 * The pace of a shard
 *   - on AWS: the next call never comes before the quota allows it, by bytes and by calls;
 *   - elsewhere: nothing is delayed until a refusal shows that there is a quota, and then it is
 *     remembered. A server that returns more than the quota allows has none;
 *   - asks for pages of less than half a second of the quota;
 *   - delays a retry, whatever the server is, and longer after each refusal in a row;
 *   - takes a smaller share after a refusal, but not after one that it caused itself;
 *   - is shared by all readers of the shard, and forgotten when there are none.
 */
class ReadPaceSuite extends AnyFunSuite {
  private val Second = 2 * 1024 * 1024

  /** A shard whose pages are as large as a test says. */
  private class Reading(isAws: Boolean) {
    val paces = new SharedReads(isAws)
    var now = 0L
    val limits: scala.collection.mutable.Buffer[Int] = scala.collection.mutable.Buffer.empty
    private def pace = paces.pace(shardId(0), now)

    /** The pause before the next call. Begins no call if there is one. */
    def begin(): Either[FiniteDuration, ReadCall] = pace.next(now)

    def read(call: ReadCall, bytes: Int): Unit = {
      limits += pace.limit(call, 10000)
      val records = Vector(record(1, bytes).copy(partitionKey = None))
      pace.answered(call, Page(records, Some(ShardIterator("next")), 1, Nil), now)
    }

    def refuse(call: ReadCall): Unit = pace.failed(call, Throttled, now)

    /** Waits as long as it must, then reads. */
    def read(bytes: Int): Unit = read(awaitCall(), bytes)
    def refuse(): Unit = refuse(awaitCall())

    private def awaitCall(): ReadCall = begin() match {
      case Right(call) => call
      case Left(wait) =>
        now += wait.toMillis
        awaitCall()
    }

    /** Milliseconds until the next call. */
    def pause(): Long = begin().fold(_.toMillis, _ => 0L)
  }

  test("on AWS a page of ten megabytes uses five seconds") {
    val reading = new Reading(isAws = true)
    reading.read(5 * Second)
    assert(reading.pause() >= 5000 && reading.pause() <= 5100)
    reading.now += 4900
    assert(reading.pause() > 0)
    reading.now += reading.pause()
    assert(reading.begin().isRight)
  }

  test("on AWS a shard is read with its quota, and never faster") {
    val reading = new Reading(isAws = true)
    var read = 0L
    while (reading.now < 60000) {
      reading.read(Second / 3)
      read += Second / 3
      assert(read <= (reading.now / 1000.0 + 1.34) * Second)
    }
    assert(read >= 60L * Second)
  }

  test("on AWS at most five calls per second, after the first five") {
    val reading = new Reading(isAws = true)
    (1 to 100).foreach(_ => reading.read(1))
    assert(reading.now >= 19000 && reading.now <= 19200)
  }

  test("on AWS pages are limited to less than half a second of the quota") {
    val reading = new Reading(isAws = true)
    Seq(1000, 1000, 10 * Second).foreach(reading.read)
    reading.read(1)
    val (first, second, afterLarge) = (reading.limits(0), reading.limits(1), reading.limits(3))
    assert(first * 1024 < Second / 2, "the first one, too: others may read the shard")
    assert(second * 1000 > Second / 3 && second * 1000 < Second / 2)
    assert(afterLarge === 1)
  }

  test("elsewhere nothing is delayed, and a server without quotas stays without them") {
    val reading = new Reading(isAws = false)
    (1 to 100).foreach { _ =>
      reading.read(5 * Second)
      assert(reading.pause() === 0)
    }
    assert(reading.limits.toSet === Set(10000))
    (1 to 3).foreach(_ => reading.refuse())
    reading.read(5 * Second)
    assert(reading.pause() === 0)
  }

  test("elsewhere one refusal shows the quota, for all shards and for good") {
    val reading = new Reading(isAws = false)
    reading.read(5 * Second)
    reading.refuse()
    assert(reading.pause() >= 5000 && reading.pause() <= 5100, "the rest of what the page used")
    reading.now += 24.hours.toMillis
    (1 to 4).foreach(_ => reading.read(Second / 2))
    assert(reading.pause() > 0)
    val other = reading.paces.pace(shardId(1), reading.now)
    val call = other.next(reading.now).toOption.get
    assert(other.limit(call, 10000) < 10000)
    other.answered(call, Page(Vector(record(1, 2 * Second)), None, 0, Nil), reading.now)
    assert(other.next(reading.now).left.toOption.exists(_ >= 2.seconds))
  }

  test("a refusal that other consumers cause is a proof only if it is repeated") {
    val reading = new Reading(isAws = false)
    def isPaced = { reading.now += 100000; reading.read(5 * Second); reading.pause() > 0 }
    reading.refuse()
    assert(!isPaced)
    reading.now += 100000
    reading.refuse()
    reading.refuse()
    reading.refuse()
    assert(isPaced)
  }

  test("a retry waits, on any server, and longer after each refusal in a row") {
    Seq(true, false).foreach { isAws =>
      val reading = new Reading(isAws)
      val pauses = (1 to 6).map { _ =>
        reading.refuse()
        reading.pause()
      }
      assert(pauses.head >= 400 && pauses.head < 1000)
      assert(pauses === pauses.sorted && pauses.head < pauses(1) && pauses.last === 1500)
      reading.now += 20000
      reading.read(1)
      assert(reading.pause() === 0)
    }
  }

  /** Seconds that it takes to read 100 seconds of the quota. */
  private def secondsFor100(reading: Reading): Double = {
    val begin = reading.now
    (1 to 250).foreach(_ => reading.read(Second * 2 / 5))
    (reading.now - begin) / 1000.0
  }

  test("after a refusal the share is smaller, and it grows again") {
    val reading = new Reading(isAws = true)
    reading.read(1)
    reading.refuse()
    val first = secondsFor100(reading)
    assert(first > 105 && first < 140)
    assert(secondsFor100(reading) < 101)
  }

  test("a refusal that this executor caused does not make the share smaller") {
    val reading = new Reading(isAws = false)
    reading.read(5 * Second)
    reading.refuse()
    assert(secondsFor100(reading) < 106, "five seconds for the first page")
  }

  private def failing(reading: Reading, failure: KinesisException): ReadCall = {
    val call = reading.begin().toOption.get
    reading.paces.pace(shardId(0), reading.now).failed(call, failure, reading.now)
    call
  }

  test("a call that the service answers with an error uses none of the quota's bytes") {
    val reading = new Reading(isAws = true)
    (1 to 4).foreach(_ => failing(reading, new KinesisException.ServiceFailure("no")))
    assert(reading.pause() === 0)
    val lost = new Reading(isAws = true)
    (1 to 3).foreach(_ => failing(lost, new KinesisException.Unreachable("perhaps it was sent")))
    assert(lost.pause() > 0)
  }

  test("a response that was not read uses the quota for all its bytes, on any server") {
    Seq(true, false).foreach { isAws =>
      val reading = new Reading(isAws)
      val call = failing(reading, new KinesisException.Other("no memory"))
      reading.paces.pace(shardId(0), 0).unread(call, 5L * Second, 0)
      if (!isAws) reading.refuse()
      assert(reading.pause() >= 5000 && reading.pause() <= 5100)
    }
  }

  test("the paces of shards that nobody reads any more are forgotten") {
    val paces = new SharedReads(isAws = true)
    def read(shard: Int, minute: Int) =
      paces.pace(shardId(shard), 60000L * minute).pause(60000L * minute)
    (0 to 99).foreach(shard => read(shard, 0))
    (1 to 20).foreach(minute => read(7, minute))
    read(200, 20)
    assert(paces.size === 2)
  }

  test("two readers of a shard share its pace") {
    val reading = new Reading(isAws = true)
    val calls = (1 to 10).map(_ => reading.begin()).collect { case Right(call) => call }
    assert(calls.size === 3, "three pages of 0.4 seconds: the bucket holds one second")
    calls.foreach(reading.read(_, Second))
    assert(reading.pause() >= 2000)
  }
}
