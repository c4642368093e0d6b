package sparkkinesis.source.simulation

import scala.concurrent.duration._
import scala.util.Random

import sparkkinesis.client.{KinesisException, Page, ShardIterator}
import sparkkinesis.model._
import sparkkinesis.shard.pace.{ReadCall, ReadPace, SharedReads}
import sparkkinesis.simulator.service.SimulatedKinesis
import sparkkinesis.simulator.state.Settings
import sparkkinesis.sink.simulation.Agenda

/**
 * Readers of one shard with quotas, in virtual time. They read the same records again and again, so
 * that they always have a backlog.
 */
final class ReadRates(seed: Long, end: FiniteDuration) {
  import ReadRates._

  private val random = new Random(seed)
  private val agenda = new Agenda
  private val kinesis = new SimulatedKinesis(agenda.clock, Settings(quotas = true))
  kinesis.createStream(stream.name, 1)
  private val shard = ShardId("shardId-000000000000")
  fill()

  private def fill(): Unit = {
    val data = new Array[Byte](RecordSize)
    (1 to Records).foreach { number =>
      kinesis.putRecords(stream, Seq(PutEntry(s"key-$number", data, None)))
      agenda.clock.advance(25.millis) // the quota of writers
    }
  }

  private val begin = agenda.now
  private def isOver = agenda.now - begin >= end.toMillis

  /** Time of one way over the network, in milliseconds. */
  private def way(): Long = 2L + (-20 * math.log(1 - random.nextDouble())).toLong

  /** What a reader got in the time that counts. */
  final class Result(from: FiniteDuration) {
    private var bytes, calls, refused = 0L

    /** The fraction of the quota that it used. */
    def use: Double = bytes / (end - from).toSeconds.toDouble / ServiceLimits.ReadBytesPerSecond
    def refusedShare: Double = refused.toDouble / math.max(1L, calls)

    def add(answer: Either[KinesisException, Page]): Unit =
      if (agenda.now - begin >= from.toMillis) {
        calls += 1
        answer.fold(_ => refused += 1, page => bytes += page.records.map(size).sum)
      }
  }

  private def size(record: Record): Long =
    record.data.length.toLong + record.partitionKey.fold(0)(_.length)

  /** A reader with the pace of this connector. */
  def query(isAws: Boolean, start: FiniteDuration, from: FiniteDuration): Result = {
    val result = new Result(from)
    val pace = new SharedReads(isAws).pace(shard, begin)
    agenda.after(start.toMillis + random.nextInt(100).toLong) {
      step(result, pace, horizon())
    }
    result
  }

  private def step(result: Result, pace: ReadPace, iterator: ShardIterator): Unit =
    if (!isOver) pace.next(agenda.now) match {
      case Left(wait) => agenda.after(wait.toMillis)(step(result, pace, iterator))
      case Right(call) => agenda.after(way())(ask(result, pace, call, iterator))
    }

  /** At the service, where the page is taken; the answer arrives later. */
  private def ask(result: Result, pace: ReadPace, call: ReadCall, at: ShardIterator): Unit = {
    val arrival = way()
    val answer =
      try Right(kinesis.getRecords(stream, at, pace.limit(call, 10000)))
      catch { case refusal: KinesisException.Throttled => Left(refusal) }
    answer match {
      case Right(page) => pace.answered(call, page, agenda.now + arrival)
      case Left(refusal) => pace.failed(call, refusal, agenda.now + arrival)
    }
    result.add(answer)
    agenda.after(arrival)(answer match {
      case Right(page) =>
        val next = page.next.filterNot(_ => page.isAtTip).getOrElse(horizon())
        agenda.after(math.max(0, 200 - 2 * arrival))(step(result, pace, next))
      case Left(_) => agenda.after(random.nextInt(200).toLong)(step(result, pace, at))
    })
  }

  private def horizon(): ShardIterator =
    kinesis.shardIterator(stream, shard, Position.TrimHorizon)

  /**
   * A reader at the tip that polls five times per second, whatever is refused.
   *
   * @param bytes per second that a producer writes
   */
  def loop(bytes: Int, from: FiniteDuration): Result = {
    val result = new Result(from)
    val data = new Array[Byte](bytes / 5)
    def poll(at: ShardIterator): Unit = if (!isOver) {
      kinesis.putRecords(stream, Seq(PutEntry("key", data, None)))
      val answer =
        try Right(kinesis.getRecords(stream, at, 10000))
        catch { case refusal: KinesisException.Throttled => Left(refusal) }
      result.add(answer)
      val next = answer.toOption.flatMap(_.next).getOrElse(at)
      agenda.after(200L + random.nextInt(10).toLong)(poll(next))
    }
    poll(kinesis.shardIterator(stream, shard, Position.Latest))
    result
  }

  def run(): Unit = agenda.run(1.hour)
}

object ReadRates {
  private val stream = StreamRef.ByName(StreamName("orders"))
  private val RecordSize = 10000
  private val Records = 3000
}
