package sparkkinesis.sink.write

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client.{KinesisException, SystemClock}
import sparkkinesis.model.PutEntry
import sparkkinesis.sink.lane.{Lane, Request, RequestLimits}
import sparkkinesis.sink.once.{Hash128, OnceSender, WriterIdentity}
import sparkkinesis.sink.{AggregateLimits, SinkOptions}

/** Exactly once: records of unknown outcome wait until the stream shows whether they are there. */
class StreamWriterOnceSuite extends AnyFunSuite with StreamWriterFixture {
  private val acceptance = 60000L
  private val sender =
    new OnceSender(WriterIdentity("q", 1, "i", 0, 0, 5), acceptance.millis, SystemClock)
  private val options =
    SinkOptions(
      aggregation = Some(AggregateLimits()),
      isExactlyOnce = true,
      givenLinger = Some(100.millis)
    )

  private def writer(world: World, isOrdered: Boolean = false): StreamWriter = {
    val all = options.copy(isOrdered = isOrdered)
    world.stream.shards()
    val limits = RequestLimits.of(SinkOptions())
    new StreamWriter(world.stream, limits, all, Some(sender), () => 0.5, world.counters, 0)
  }

  private def digests(request: Request): Set[Hash128] =
    request.entries.map((it: PutEntry) => Hash128.ofAggregate(it.data)).toSet

  private def nothingToSend(it: StreamWriter, now: Long) =
    assert(it.next(now, isUrgent = true).isInstanceOf[StreamWriter.Next.Wait], s"at $now")

  Seq("no answer", "a failed service", "a failed record").foreach { what =>
    test(s"after $what, what is in the stream is not sent again, and what is not is") {
      Seq(true, false).foreach { isThere =>
        val world = new World(evenShards(1))
        val it = writer(world)
        add(it, "k", "row")
        val request = send(it)
        what match {
          case "no answer" => it.failed(request, new KinesisException.Unreachable(""), 1000)
          case "a failed service" =>
            it.failed(request, new KinesisException.ServiceFailure(""), 1000)
          case _ => it.answered(request, Seq(oops), 1000)
        }
        nothingToSend(it, 30000)
        assert(it.recoverAt === acceptance)
        val found = if (isThere) digests(request) else Set.empty[Hash128]
        it.recovered(found, askedAt = acceptance, acceptance + 10)
        assert(it.recoverAt === Lane.Never)
        if (isThere) nothingToSend(it, 120000) else assert(rows(send(it, 120000)) === Seq("row"))
        assert(world.counters.bufferedRecords === (if (isThere) 0 else 1))
      }
    }
  }

  test("a look that began too early says nothing") {
    val world = new World(evenShards(1))
    val it = writer(world)
    add(it, "k", "row")
    it.failed(send(it), new KinesisException.Unreachable(""), 1000)
    it.recovered(Set.empty, askedAt = acceptance - 1, acceptance)
    nothingToSend(it, acceptance)
    assert(it.recoverAt === acceptance)
  }

  test("a throttled record is sent again without a look") {
    val world = new World(evenShards(1))
    val it = writer(world)
    add(it, "k", "row")
    it.answered(send(it), Seq(throttled), 10)
    assert(it.recoverAt === Lane.Never && rows(send(it, 5000)) === Seq("row"))
    val other = writer(world)
    add(other, "k", "row")
    other.failed(send(other), new KinesisException.Throttled(""), 10)
    assert(other.recoverAt === Lane.Never && rows(send(other, 5000)) === Seq("row"))
  }

  test("other lanes go on while one waits, and with order its own does not") {
    val world = new World(evenShards(2))
    val it = writer(world, isOrdered = true)
    add(it, keys.head, "first")
    it.failed(send(it), new KinesisException.Unreachable(""), 10)
    add(it, keys.head, "second")
    add(it, keys.last, "other")
    assert(rows(send(it, 1000)) === Seq("other"))
    nothingToSend(it, 1001)
    it.recovered(Set.empty, askedAt = acceptance, acceptance)
    assert(rows(send(it, acceptance + 5000)) === Seq("first"))
  }

  test("an aggregate that a reshard moved is in its shard, and is not sent again") {
    val world = new World(evenShards(1))
    val it = writer(world)
    keys.foreach(key => add(it, key, s"row of $key"))
    val request = send(it)
    world.shards = split
    it.answered(request, world.write(request), 10)
    assert(world.counters.bufferedRecords === 0)
  }
}
