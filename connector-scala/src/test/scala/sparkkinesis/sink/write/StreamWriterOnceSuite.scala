package sparkkinesis.sink.write

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client.PutResult.Written
import sparkkinesis.client.{KinesisException, SystemClock}
import sparkkinesis.model._
import sparkkinesis.model.aggregate.AggregateTags
import sparkkinesis.sink.lane.{Lane, Request}
import sparkkinesis.sink.once._
import sparkkinesis.sink.write.StreamWriter.Next
import sparkkinesis.sink.{AggregateLimits, SinkOptions}

/** Exactly once: records of unknown outcome wait until the stream shows whether they are there. */
class StreamWriterOnceSuite extends AnyFunSuite with StreamWriterFixture {
  private val acceptance = 60000L
  private def sender =
    new OnceSender(WriterIdentity("q", 1, "i", 0, 0, 5), OnceTerms(), SystemClock)
  private val options =
    SinkOptions(
      aggregation = Some(AggregateLimits()),
      isExactlyOnce = true,
      givenLinger = Some(100.millis)
    )

  private def writer(
      world: World,
      isOrdered: Boolean = false,
      limits: AggregateLimits = AggregateLimits()
  ): StreamWriter = {
    val all = options.copy(isOrdered = isOrdered, aggregation = Some(limits))
    world.stream.shards()
    new StreamWriter(world.stream, all, Some(sender), () => 0.5, world.counters, 0)
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
        assert(it.beginRecovery(acceptance).nonEmpty)
        it.recovered(found, askedAt = acceptance, acceptance + 10)
        assert(it.recoverAt === Lane.Never)
        if (isThere) nothingToSend(it, 120000) else assert(rows(send(it, 120000)) === Seq("row"))
        assert(world.counters.bufferedRecords === (if (isThere) 0 else 1))
      }
    }
  }

  test("an answer without failures needs one object per shard, where a later look begins") {
    val world = new World(evenShards(1))
    val it = writer(world, limits = AggregateLimits(records = 1))
    (1 to 5).foreach(n => add(it, "k", n.toString))
    val results = new AnswerOfOneShard(id(0), 5)
    it.answered(send(it), results, 1)
    assert(results.read === 1 && world.counters.bufferedRecords === 0)
    add(it, "k", "lost", now = 20000)
    it.failed(send(it, 20000), new KinesisException.Unreachable(""), 20001)
    val question = it.beginRecovery(20000 + acceptance)
    assert(question.map(_.map(_.after)) === Some(Seq(Some(SequenceNumber("7")))))
  }

  test("a look says nothing about requests that are young, or failed after it began") {
    val world = new World(evenShards(2))
    val it = writer(world)
    add(it, keys.head, "known")
    val known = send(it)
    add(it, keys.last, "late")
    val late = send(it, 10)
    it.failed(known, new KinesisException.Unreachable(""), 1000)
    assert(it.beginRecovery(acceptance - 1) === Some(Nil))
    it.recovered(Set.empty, askedAt = acceptance - 1, acceptance)
    nothingToSend(it, acceptance)
    assert(it.beginRecovery(acceptance + 100).exists(_.map(_.shard) == Seq(id(0))))
    it.failed(late, new KinesisException.Unreachable(""), acceptance + 200)
    it.recovered(Set.empty, askedAt = acceptance + 100, acceptance + 300)
    assert(rows(send(it, acceptance + 10000)) === Seq("known"))
    nothingToSend(it, acceptance + 10001)
    assert(it.recoverAt === acceptance + 10)
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

  test("without order, throttled records do not wait for those of unknown outcome") {
    val world = new World(evenShards(1))
    val it = writer(world, limits = AggregateLimits(records = 1))
    Seq("a", "b").foreach(add(it, "k", _))
    it.answered(send(it), Seq(throttled, oops), 10)
    assert(rows(send(it, 5000)) === Seq("a"))
    nothingToSend(it, 5001)
    it.beginRecovery(acceptance)
    it.recovered(Set.empty, askedAt = acceptance, acceptance)
    assert(rows(send(it, acceptance + 5000)) === Seq("b"))
  }

  test("a request that was never sent is sent again without a look") {
    val world = new World(evenShards(1))
    val it = writer(world)
    add(it, "k", "row")
    it.failed(send(it), new KinesisException.Unreachable("", null, mayHaveArrived = false), 10)
    assert(it.recoverAt === Lane.Never && rows(send(it, 5000)) === Seq("row"))
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
    assert(it.beginRecovery(acceptance).nonEmpty)
    it.recovered(Set.empty, askedAt = acceptance, acceptance)
    assert(rows(send(it, acceptance + 5000)) === Seq("first"))
  }

  private def numbers(request: Request): Set[Long] =
    request.entries.flatMap(it => AggregateTags.tagOf(it.data, 0, it.data.length)).map(_._2).toSet

  test("aggregates that a reshard takes apart leave no gap in the numbers") {
    val world = new World(evenShards(1))
    val it = writer(world)
    def reshard(shards: Seq[Shard], now: Long): Unit = {
      world.shards = shards
      it.listed(world.stream.shardsAfter(it.shards), now)
    }
    Seq("a", "b").foreach(add(it, keys.head, _))
    reshard(split, 1)
    assert(numbers(send(it, 1)) === Set(1), "an open aggregate")
    keys.foreach(add(it, _, "c", 2))
    val refused = send(it, 2)
    assert(numbers(refused) === Set(2, 3))
    it.answered(refused, Seq(throttled, throttled), 3)
    add(it, keys.head, "d", 3)
    reshard(merged, 4)
    val sent = Iterator
      .continually(it.next(9000, isUrgent = true))
      .takeWhile(_.isInstanceOf[Next.Send])
      .collect { case Next.Send(request) => numbers(request) }
    assert(sent.flatten.toSet === Set(2, 3, 4), "two refused aggregates, and an open one")
  }

  test("what is looked up is the shards in doubt, from a record acknowledged before") {
    val world = new World(evenShards(2))
    val it = writer(world)
    def write(key: String, now: Long, number: Option[String]) = {
      add(it, key, "row", now)
      val request = send(it, now)
      number match {
        case None => it.failed(request, new KinesisException.Unreachable(""), now + 10)
        case Some(text) =>
          val results = request.entries.map(world.owner).map(Written(_, SequenceNumber(text)))
          it.answered(request, results, now + 10)
      }
    }
    Seq(0L -> "1", 5000L -> "2", 20000L -> "3", 29900L -> "4").foreach { case (now, number) =>
      write(keys.head, now, Some(number))
    }
    write(keys.head, 30015, None)
    write(keys.last, 40000, None)
    val known = Some(SequenceNumber("3"))
    assert(it.beginRecovery(95000) === Some(Seq(ShardInDoubt(id(0), 64985, known))))
    assert(it.beginRecovery(95000) === None, "one look at a time")
    it.recovered(Set.empty, askedAt = 95000, 96000)
    assert(it.beginRecovery(100000) === Some(Seq(ShardInDoubt(id(1), 60000, None))))
  }

  test("the time of a look does not count for deliveryTimeout, and all other time does") {
    val world = new World(evenShards(1))
    val it = writer(world)
    val timeout = options.deliveryTimeout.toMillis
    add(it, "k", "row")
    it.failed(send(it), new KinesisException.Unreachable(""), 1000)
    assert(it.beginRecovery(acceptance).nonEmpty)
    it.checkDeadline(acceptance + 10 * timeout)
    it.recovered(Set.empty, askedAt = acceptance, acceptance + 10 * timeout)
    it.checkDeadline(11 * timeout - 1)
    intercept[DeliveryTimeoutException](it.checkDeadline(11 * timeout))
  }

  private val number = SequenceNumber("7")
  private var doubtful = Set.empty[Hash128]

  /** An ordered writer to two shards, with a record of the first one in doubt. One is split. */
  private def inDoubt(world: World, split: Int) = {
    val it = writer(world, isOrdered = true)
    add(it, keys.head, "in doubt")
    val request = send(it)
    doubtful = digests(request)
    it.failed(request, new KinesisException.Unreachable(""), 10)
    val quarters = HashKeyRange.even(4).slice(2 * split, 2 * split + 2)
    val parents = halves.zipWithIndex.map { case (range, n) =>
      shard(n, range, isOpen = n != split)
    }
    val children =
      quarters.zip(Seq(2, 3)).map { case (range, n) => shard(n, range, parents = Seq(split)) }
    it.listed(ShardMap.of(parents ++ children).get, 20)
    it
  }

  test("with order, a doubt and a split of another shard stop only the lane of the doubt") {
    val it = inDoubt(new World(evenShards(2)), split = 1)
    add(it, keys.last, "other")
    assert(rows(send(it, 1000)) === Seq("other"))
    assert(it.shards.shards === IndexedSeq(id(0), id(2), id(3)))
  }

  Seq(true, false).foreach { isThere =>
    test(s"with order, only the child of a doubt's shard waits, in the stream already: $isThere") {
      val world = new World(evenShards(2))
      val it = inDoubt(world, split = 0)
      add(it, keys.last, "other")
      add(it, keys.head, "later")
      val sibling = Iterator.from(0).map(n => s"s$n").find { key =>
        val ranges = HashKeyRange.even(4).take(2)
        ranges.indexWhere(_.contains(HashKey.of(key))) ==
          1 - ranges.indexWhere(_.contains(HashKey.of(keys.head)))
      }
      add(it, sibling.get, "sibling")
      val others = send(it, 1000)
      assert(rows(others).toSet === Set("other", "sibling"))
      assert(it.shards.shards === IndexedSeq(id(2), id(3), id(1)))
      it.answered(others, others.parts.map(part => Written(part.lane.shard, number)), 1010)
      nothingToSend(it, 1011)
      val question = it.beginRecovery(acceptance)
      assert(question.map(_.map(_.shard)) === Some(Seq(id(0))))
      val found = if (isThere) doubtful else Set.empty[Hash128]
      it.recovered(found, askedAt = acceptance, acceptance)
      val sent = rows(send(it, acceptance + 5000))
      assert(sent === (if (isThere) Seq("later") else Seq("in doubt")))
    }
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
