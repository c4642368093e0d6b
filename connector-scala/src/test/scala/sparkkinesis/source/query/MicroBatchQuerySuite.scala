package sparkkinesis.source.query

import java.time.Instant

import scala.annotation.tailrec
import scala.collection.immutable.SortedMap
import scala.concurrent.duration._
import scala.util.{Failure, Success, Try}

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.client.{KinesisException, Moment}
import sparkkinesis.model._
import sparkkinesis.model.offset.{Progress, ShardProgress, SourceOffset, StreamOffset}
import sparkkinesis.shard.{ServiceTime, SourceException}
import sparkkinesis.source.ScriptedKinesis.{Created, summary}
import sparkkinesis.source.checkpoint.DescribedStream
import sparkkinesis.source.options.SourceOptions
import sparkkinesis.source.protocol._

/** A query over a stream with two shards. The test plays Spark, the executors and the service. */
class MicroBatchQuerySuite extends AnyFunSuite {
  private val shards = newStream(2)
  private val refunds = arn.copy(name = StreamName("refunds"))
  private val whole = offsetOf(shards)
  private val half = offsetOf(shards.take(1))

  private def offsetOf(shards: Seq[Shard]) = {
    val unread = ShardProgress(Progress.TrimHorizon, Set.empty)
    only(StreamOffset(arn, Created, SortedMap.from(shards.map(_.id -> unread))))
  }

  /** Both shards are read to their tip at that time after the epoch. */
  private def completeAsOf(time: FiniteDuration) = {
    val complete = Some(Instant.ofEpochMilli(time.toMillis))
    SourceOffset(whole.streams.transform { (_, stream) =>
      stream.copy(shards = stream.shards.transform((_, it) => it.copy(completeAsOf = complete)))
    })
  }

  private def upTo(number: Int): Progress = Progress.After(SequenceNumber(number.toString))

  /** Number of the last record of each shard that the batch contains; 0 if there is none. */
  private def lastRead(end: SourceOffset): Seq[Int] = shards.indices.map { index =>
    end.progress(shardOf(index)) match {
      case Progress.After(number) => number.text.toInt
      case _ => 0
    }
  }

  private class Driving(
      stopAtMillis: Option[Long] = None,
      skew: Option[FiniteDuration] = None,
      named: Seq[StreamArn] = Seq(arn)
  ) {
    var now: FiniteDuration = 1.hour
    var listing: Try[Seq[Shard]] = Success(shards)
    var created: Instant = Created
    var found: Option[Map[String, String]] = Some(Map("a" -> "host")) // executors
    var answering: Set[StreamShard] = shards.indices.map(shardOf(_)).toSet
    var left: Vector[Command] = Vector.empty[Command] // commands that the test carries out itself
    private val options = {
      val texts = Map(
        "streamArn" -> named.mkString(","),
        "allowStreamRemoval" -> "true",
        "failOnDataLoss" -> "false"
      )
      val parsed = SourceOptions.parse(texts, None)
      parsed.copy(fetch = parsed.fetch.copy(stopAtMillis = stopAtMillis, maxShardSkew = skew))
    }
    private val described = options.streams.zip(named).map { case (access, arn) =>
      DescribedStream(access, summary(stream = arn), new ServiceTime)
    }
    val query = new MicroBatchQuery(options, new QueryStreams(options, described, () => 0.5))
    private var version = 0L
    private var plan = FetchPlan(Vector.empty, Map.empty)

    def moment: Moment = {
      val instant = Instant.ofEpochMilli(now.toMillis)
      Moment(instant, instant)
    }

    def ask(start: SourceOffset = whole): Answer[SourceOffset] = {
      val answer = query.asked(start, ReadLimits.None, moment)
      carryOut()
      answer
    }

    /** Asks, and lets time pass, until there is an answer. */
    def nextEnd(start: SourceOffset = whole): SourceOffset = {
      val begin = now
      @tailrec def next(): SourceOffset = ask(start) match {
        case Answer.Ready(end) => end
        case Answer.Fail(cause) => throw cause
        case Answer.Wait(until) =>
          val wait = (until.toEpochMilli - now.toMillis).millis
          assert(wait > Duration.Zero && wait <= 10.seconds && now < begin + 1.minute)
          pass(wait)
          next()
      }
      next()
    }

    /** The executor reports in each tick. */
    def pass(time: FiniteDuration): Unit = {
      val end = now + time
      while (now < end) {
        now = (now + 500.millis).min(end)
        query.tick(moment)
        if (version > 0) hear()
        carryOut()
      }
    }

    private def carryOut(): Unit = query.commands().foreach {
      case Command.List(arn) =>
        query.listed(arn, listing, moment)
        carryOut()
      case Command.Describe(arn) =>
        query.described(arn, Success(summary(created = created, stream = arn)), moment)
        carryOut()
      case other =>
        left :+= other
        if (other == Command.FindExecutors) found.foreach(query.executorsFound)
    }

    def hear(reports: FetchReport*): Unit = {
      val status =
        Heartbeat("a", "host", reports.toVector, FetchCounters.Zero, None, version)
      val reply = query.heard(status)
      version = reply.version
      reply.plan.foreach(plan = _)
    }

    /** The executor has read all shards up to their tip, and records that arrived then. */
    def read(arrivals: Long*): Unit = readUpTo(completeAsOf = 0, arrivals: _*)

    /** The shards have ended, without a record. */
    def finish(): Unit = hear(plan.assignments.map { it =>
      val end = Vector(Mark(Progress.Finished, 0, 0, 0))
      FetchReport(it.shard, it.generation, it.from, end, Nil, 0, 0)
    }: _*)

    def readUpTo(completeAsOf: Long, arrivals: Long*): Unit = {
      hear()
      val marks = arrivals.zipWithIndex.map { case (arrival, index) =>
        Mark(upTo(index + 1), 1, 1, arrival, arrival)
      }
      hear(plan.assignments.filter(it => answering(it.shard)).map { it =>
        FetchReport(it.shard, it.generation, it.from, marks.toVector, Nil, 0, completeAsOf)
      }: _*)
    }

    /** The executor reads once per second, and finds nothing. */
    def idle(time: FiniteDuration): Unit = (1L to time.toSeconds).foreach { _ =>
      pass(1.second)
      read()
    }

    def lag(shard: Int): FiniteDuration = query.lateness(moment).lags(shardOf(shard)).millis

    def failure(start: SourceOffset = whole): SourceException =
      intercept[SourceException](nextEnd(start))
  }

  /** A query whose executor has looked at the shards. */
  private def begun(driving: Driving, start: SourceOffset = whole): Driving = {
    driving.ask(start)
    driving.read()
    driving
  }

  test("a shard that the query would never read is in the end of the next batch") {
    val driving = begun(new Driving, half)
    assert(driving.nextEnd(half) eq half)
    driving.pass(30.seconds)
    assert(driving.nextEnd(half) === whole)
  }

  test("with a stop time, a run that has read everything waits until its shards are settled") {
    val driving = begun(new Driving(stopAtMillis = Some(1000)), half)
    assert(driving.nextEnd(half) === whole)
    driving.ask(whole)
    driving.read()
    assert(driving.nextEnd(whole) eq whole, "now it ends")
  }

  test("with a stop time and the smallest skew, a run takes all that was read, and ends") {
    val driving = begun(new Driving(stopAtMillis = Some(1000), skew = Some(1.second)))
    // Executors read up to records that arrived a second after the stop time.
    driving.readUpTo(2000, 1500)
    assert(lastRead(driving.nextEnd()) === Seq(1, 1))
  }

  test("a run with a stop time confirms what it has read, in one batch more, and ends") {
    val (start, end) = (completeAsOf(10.minutes), completeAsOf(50.minutes))
    val driving = begun(new Driving(stopAtMillis = Some(50.minutes.toMillis)), start)
    driving.readUpTo(50.minutes.toMillis)
    assert(driving.nextEnd(start) === end)
    driving.ask(end)
    driving.pass(10.minutes) // the batch takes long
    driving.readUpTo(61.minutes.toMillis)
    assert(driving.nextEnd(end) eq end)
  }

  test("an idle query confirms every sixteenth part of the retention period") {
    val start = completeAsOf(10.minutes)
    val driving = begun(new Driving, start)
    driving.readUpTo(100.minutes.toMillis)
    assert(driving.nextEnd(start) eq start)
    driving.pass(1.second)
    driving.readUpTo(101.minutes.toMillis)
    assert(driving.nextEnd(start) === completeAsOf(101.minutes))
  }

  test("a stream that the query no longer names is not in the end of the next batch") {
    val other = StreamOffset(refunds, Created, whole.streams(arn).shards)
    val start = SourceOffset(whole.streams + (refunds -> other))
    val driving = begun(new Driving, start)
    val end = driving.nextEnd(start)
    assert(end === whole, "at once")
    assert(driving.nextEnd(end) eq end)
  }

  test("a stream that joins begins when it is known where, and the others wait for that") {
    val driving = new Driving(named = Seq(arn, refunds))
    assert(driving.ask().isInstanceOf[Answer.Wait])
    assert(driving.left.count(_ == Command.Begin(refunds)) === 1)
    val begin = StreamOffset(refunds, Created, whole.streams(arn).shards)
    driving.query.begun(refunds, Success(begin))
    driving.query.begun(refunds, Failure(new IllegalStateException("an answer comes twice")))
    assert(driving.nextEnd().streams(refunds) === begin)
    assert(driving.left.count(_ == Command.Begin(refunds)) === 1)
  }

  test("a query whose new stream cannot begin fails with the reason") {
    val driving = new Driving(named = Seq(arn, refunds))
    driving.ask()
    driving.query.begun(refunds, Failure(new KinesisException.AccessDenied("no")))
    assert(driving.ask() match {
      case Answer.Fail(cause) => cause.isInstanceOf[KinesisException.AccessDenied]
      case _ => false
    })
  }

  test("a query without a next batch finds one as soon as an executor reports records") {
    val driving = begun(new Driving)
    (1 to 2).foreach(_ => assert(driving.nextEnd() eq whole))
    driving.read(1)
    assert(lastRead(driving.nextEnd()) === Seq(1, 1))
    assert(driving.query.latest.map(lastRead) === Some(Seq(1, 1)))
  }

  test("the first batch waits for first pages, at most ten seconds, and only once") {
    val driving = new Driving
    val begin = driving.now
    assert(driving.nextEnd() eq whole)
    assert(driving.now - begin >= 10.seconds && driving.now - begin < 11.seconds)
    assert(driving.left.exists(_.isInstanceOf[Command.Warn]))
    val later = driving.now
    assert((driving.nextEnd() eq whole) && driving.now === later)
  }

  test("after the last executor was lost, the next trigger waits for pages of another one") {
    val driving = begun(new Driving)
    assert(driving.nextEnd() eq whole)
    driving.query.lost("a")
    assert(driving.ask().isInstanceOf[Answer.Wait])
    driving.read(1)
    assert(lastRead(driving.nextEnd()) === Seq(1, 1))
  }

  test("services start where there are none, one job at a time") {
    val driving = new Driving
    driving.found = None
    driving.ask()
    assert(driving.left === Vector(Command.FindExecutors))
    driving.pass(1.minute)
    assert(driving.ask().isInstanceOf[Answer.Wait], "a consumer is being registered")
    driving.query.executorsFound(Map("a" -> "host", "b" -> "host", "c" -> "host"))
    driving.pass(30.seconds)
    driving.ask()
    val expected = Command.StartServices(Map("a" -> "host", "b" -> "host"))
    assert(driving.left.count(_ == Command.FindExecutors) === 1 && driving.left.contains(expected))
    driving.query.servicesStarted(None)
    driving.ask()
    assert(driving.left.last === Command.FindExecutors)
  }

  test("a service that cannot start, or cannot report, fails the query by name") {
    val broken = new Driving
    broken.query.servicesStarted(Some(new IllegalStateException("a class is missing")))
    assert(broken.failure().condition === "KINESIS_EXECUTOR_FAILED")
    assert(broken.failure().getMessage.contains("a class is missing"))

    val silent = new Driving
    silent.ask()
    silent.query.servicesStarted(None)
    silent.ask()
    silent.pass(31.seconds)
    assert(silent.failure().condition === "KINESIS_EXECUTOR_UNREACHABLE")
  }

  test("a stream that was created again explains a failure of an executor, if that is known soon") {
    def failing() = {
      val driving = new Driving
      driving.query.foundVersion("0.0.1")
      driving
    }
    assert(failing().failure().condition === "KINESIS_VERSION_MISMATCH")
    val again = failing()
    again.created = Instant.ofEpochMilli(7)
    assert(again.failure().condition === "KINESIS_STREAM_RECREATED")

    val unknown = failing()
    val asked = unknown.query.asked(whole, ReadLimits.None, unknown.moment)
    assert(
      asked.isInstanceOf[Answer.Wait] && unknown.query.commands().contains(Command.Describe(arn))
    )
    unknown.now += 10.seconds
    assert(unknown.failure().condition === "KINESIS_VERSION_MISMATCH", "there was no answer")
  }

  test("a batch is planned once, and its pages are kept until it is done") {
    val driving = begun(new Driving)
    driving.read(1)
    val end = driving.nextEnd()
    def tasks() = driving.query.tasks(whole, end, slots = 4, Duration.Zero, driving.moment)
    val planned = tasks()
    driving.read(2)
    assert((tasks() eq planned) && planned.flatMap(_._2).map(_.shard).toSet.size === 2)
    assert(planned.flatMap(_._1).distinct === Seq("host" -> "a"))
    def dropped: Iterable[Progress] = {
      var found = Iterable.empty[Progress]
      val status =
        Heartbeat("a", "host", Vector.empty, FetchCounters.Zero, None, knownVersion = 1)
      driving.query.heard(status).plan.foreach(plan => found = plan.processed.values)
      found
    }
    assert(dropped.forall(_ == Progress.TrimHorizon))
    driving.query.done(driving.moment)
    driving.query.committed(end, driving.moment)
    assert(dropped.nonEmpty && dropped.forall(_ == upTo(1)))
  }

  test("after a restart, a batch is planned before Spark asks for anything else") {
    val driving = new Driving
    val end = only(
      whole
        .streams(arn)
        .copy(shards = whole.streams(arn).shards.transform { (_, it) =>
          it.copy(progress = upTo(1))
        })
    )
    val tasks = driving.query.tasks(whole, end, slots = 1, Duration.Zero, driving.moment)
    assert(tasks.map(_._2.size) === Seq(2) && tasks.flatMap(_._1).isEmpty)
    assertThrows[SourceException] {
      val recreated = whole.streams(arn).copy(created = Instant.ofEpochMilli(7))
      new Driving().query.tasks(only(recreated), only(recreated), 1, Duration.Zero, driving.moment)
    }
  }

  test("the lag is the age of the oldest record, while it waits and while its batch runs") {
    val driving = begun(new Driving)
    driving.idle(1.minute)
    assert(driving.lag(0) === Duration.Zero)
    driving.read((driving.now - 200.millis).toMillis, driving.now.toMillis)
    assert(driving.lag(0) === 200.millis, "not the minute without records")
    val end = driving.nextEnd()
    val arrived = driving.now - driving.lag(0)
    driving.query.tasks(whole, end, 2, Duration.Zero, driving.moment)
    driving.idle(1.hour)
    assert(driving.lag(0) === driving.now - arrived, "the sink is slow")
    assert(driving.query.done(driving.moment))
    assert(driving.lag(0) === Duration.Zero)
  }

  test("the records of the running batch may expire, too") {
    val driving = begun(new Driving)
    def readAt(arrivals: Long*): Unit = driving.readUpTo(driving.now.toMillis, arrivals: _*)
    def plan(start: SourceOffset): SourceOffset = {
      val end = driving.nextEnd(start)
      driving.query.tasks(start, end, 2, Duration.Zero, driving.moment)
      end
    }
    def left = driving.query.lateness(driving.moment).toExpiry.get
    readAt(driving.now.toMillis)
    val first = plan(whole)
    driving.query.done(driving.moment)
    driving.pass(1.hour)
    readAt(driving.now.toMillis, driving.now.toMillis)
    plan(first)
    driving.pass(1.hour)
    readAt()
    assert(left <= 22.hours)
    driving.query.done(driving.moment)
    assert(left > 23.hours)
  }

  test("a shard whose reads are refused is late, although nobody knows a record of it") {
    val driving = begun(new Driving)
    driving.answering = Set(shardOf(1))
    driving.idle(5.seconds)
    assert(driving.lag(0) > 2.seconds && driving.lag(1) === Duration.Zero)
    driving.idle(57.seconds)
    assert(driving.lag(0) >= 1.minute && driving.lag(1) === Duration.Zero)
    driving.answering = Set(shardOf(0), shardOf(1))
    driving.read()
    assert(driving.lag(0) === Duration.Zero)
  }

  test("a quiet shard that ends is not late by the time for which it was quiet") {
    val start = completeAsOf(10.minutes)
    val driving = begun(new Driving, start)
    driving.readUpTo(59.minutes.toMillis)
    driving.finish()
    val end = driving.nextEnd(start)
    assert(end ne start)
    driving.query.tasks(start, end, 1, Duration.Zero, driving.moment)
    assert(driving.lag(0) <= 2.minutes)
  }

  test("a shard that was never read is late from the beginning of the run") {
    val driving = new Driving
    driving.ask()
    assert(driving.query.lateness(driving.moment).lags.isEmpty)
    driving.pass(1.minute)
    assert(driving.lag(0) > 50.seconds)
  }
}
