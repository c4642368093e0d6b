package sparkkinesis.source.scale

import java.time.Instant

import scala.collection.immutable.SortedMap
import scala.concurrent.duration._
import scala.util.Success

import org.apache.spark.sparkkinesis.Messages

import sparkkinesis.client.{Moment, StreamStatus, StreamSummary}
import sparkkinesis.model._
import sparkkinesis.model.offset.{Progress, ShardProgress, SourceOffset, StreamOffset}
import sparkkinesis.shard.{ServiceTime, ShardRange}
import sparkkinesis.source.checkpoint.{DescribedStream, OffsetCodec}
import sparkkinesis.source.options.SourceOptions
import sparkkinesis.source.plan.ExecutorTable
import sparkkinesis.source.protocol._
import sparkkinesis.source.query._

/**
 * A query over a large stream: the driver's real decisions, and stubs of executors. Messages and
 * offsets are bytes, as in production. Only the clock is simulated.
 */
final class LargeCluster(executors: Int, shards: Int) {
  import LargeCluster._

  val costs: Costs = new Costs
  private var millis = Begin.toEpochMilli
  private var tickedAt = millis
  private val listed = (0 until shards).zip(HashKeyRange.even(shards)).map { case (n, range) =>
    Shard(ShardId(f"shardId-$n%012d"), Nil, range, SequenceNumber("0"), None)
  }
  private var stubs = (1 to executors).map(n => s"$n" -> new StubExecutor(s"$n")).toMap
  private var started = Set.empty[String] // executors that have a service
  private var lists = 0
  private var written = 0 // number of pages of each shard
  private var logged = OffsetCodec.encode {
    val unread = ShardProgress(tip, Set.empty, Some(Begin))
    SourceOffset.of(Seq(StreamOffset(Arn, Begin, SortedMap.from(listed.map(_.id -> unread)))))
  }
  private var query = {
    val options = SourceOptions.parse(Map("streamArn" -> s"$Arn"), None)
    val summary = StreamSummary(Arn, StreamStatus.Active, Begin, 24.hours, shards, 1 << 20)
    val described = DescribedStream(options.streams.head, summary, new ServiceTime)
    new MicroBatchQuery(options, new QueryStreams(options, Seq(described), () => 0.5))
  }

  /** Until each shard has a reader, and each executor has its last plan. */
  def start(): Unit = {
    while (started.size < executors || assigned.distinct.size < shards) {
      ask(): Unit
      pass()
    }
    pass(1.second)
  }

  /** Each executor sends a heartbeat every 200 ms, and an idle shard is polled once per second. */
  def pass(time: FiniteDuration = Beat): Unit = (1L to time.toMillis / Beat.toMillis).foreach { _ =>
    millis += Beat.toMillis
    require(
      passed < Longest,
      s"after $Longest, ${assigned.distinct.size} of $shards shards are read"
    )
    if (millis - tickedAt >= ExecutorTable.Tick.toMillis) {
      tickedAt += ExecutorTable.Tick.toMillis
      query.tick(now)
      carryOut()
    }
    live.foreach { it =>
      if (millis % 1000 == 0) it.read(tip, millis)
      receive(it)
    }
  }

  /** A page of records arrives in each shard. Executors read and report it. */
  def write(): Unit = {
    written += 1
    live.foreach(_.read(tip, millis))
    live.foreach(receive)
  }

  /** Plans a batch over the reported pages, and logs it. Executors drop their pages. */
  def batch(): Seq[ShardRange] = {
    val start = OffsetCodec.decode(logged)
    val end = costs.of("plan")(Iterator.continually(ask()).flatten.next())
    logged = costs.of("encode")(OffsetCodec.encode(end))
    require(costs.of("decode")(OffsetCodec.decode(logged)) == end, "another offset was logged")
    val tasks = costs.of("pack")(query.tasks(start, end, executors, millis.millis, now))
    pass()
    query.committed(end, now)
    pass()
    tasks.flatMap(_._2)
  }

  /** Spark asks for a batch, which it does a hundred times per second. */
  def ask(): Option[SourceOffset] = {
    val start = OffsetCodec.decode(logged)
    val answer = costs.of("ask")(query.asked(start, ReadLimits.None, now))
    carryOut()
    answer match {
      case Answer.Ready(end) if end ne start => Some(end)
      case Answer.Fail(cause) => throw cause
      case _ => None
    }
  }

  /**
   * Loses executors.
   *
   * @param areReported whether Spark tells the driver that their connections ended
   * @return the simulated time until each of their shards has been read again
   */
  def lose(count: Int, areReported: Boolean): FiniteDuration = {
    val gone = live.take(count).map(_.id).toSet
    val from = millis
    started --= gone
    stubs --= gone
    if (areReported) gone.foreach(id => costs.of("disconnect")(query.lost(id)))
    while (assigned.size < shards || live.exists(_.isBehind(tip))) {
      pass()
      live.filter(_.isBehind(tip)).foreach(_.read(tip, millis))
      live.foreach(receive)
    }
    (millis - from).millis
  }

  /** The place of the last record of each shard. */
  def tip: Progress = Progress.After(SequenceNumber((FirstNumber + written).toString))

  /** The shards of each live executor. */
  def assigned: Seq[StreamShard] = live.flatMap(_.shards)

  /** The most shards that an executor has. */
  def mostShards: Int = live.map(_.shards.size).max

  def offset: String = logged

  def progress: Map[StreamShard, Progress] = OffsetCodec.decode(logged).progress

  /** Calls of `ListShards` per minute so far. */
  def listCalls: Double = lists * pages / (passed / 1.minute)

  /** Those of a query that lists the shards once per `shardDiscoveryInterval`. */
  def usualListCalls: Double = pages * (1.minute / 10.seconds)

  private def pages = math.ceil(shards.toDouble / ServiceLimits.ListShardsCount)

  /** Simulated time since the beginning. */
  def passed: FiniteDuration = (millis - Begin.toEpochMilli).millis

  /** Bytes that the driver's state holds. Call it last: the state is gone afterwards. */
  def heapOfDriver(): Long = {
    def used = {
      (1 to 2).foreach(_ => System.gc())
      val runtime = Runtime.getRuntime
      runtime.totalMemory - runtime.freeMemory
    }
    val before = used
    query = null // nothing else refers to it
    before - used
  }

  private def live: Seq[StubExecutor] = stubs.valuesIterator.filter(it => started(it.id)).toSeq

  private def now: Moment = {
    val instant = Instant.ofEpochMilli(millis)
    Moment(instant, instant)
  }

  private def receive(stub: StubExecutor): Unit = {
    val beat = stub.beat()
    val sent = Messages.encode(beat, ProtocolVersion.Current, beat.executor)
    val kind = stub.kind(beat)
    val answer = costs.of(kind) {
      val received = Messages.decode[Heartbeat](sent, ProtocolVersion.Current)
      Messages.encode(costs.of(s"$kind, locked")(query.heard(received)))
    }
    stub.answered(Messages.decode[HeartbeatReply](answer))
    carryOut()
  }

  private def carryOut(): Unit = query.commands().foreach {
    case Command.List(stream) =>
      lists += 1
      query.listed(stream, Success(listed), now)
    case Command.FindExecutors => query.executorsFound(stubs.transform((_, _) => "host"))
    case Command.StartServices(on) =>
      started ++= on.keySet
      query.servicesStarted(None)
    case Command.Warn(text) => throw new IllegalStateException(text)
    case _: Command.Describe | _: Command.Probe | _: Command.Begin =>
      throw new IllegalStateException("A healthy query makes no such call within a minute.")
  }
}

private object LargeCluster {
  private val Arn = StreamArn("aws", "eu-west-1", "123456789012", StreamName("paper"))
  private val Beat = 200.millis
  private val Longest = 3.minutes
  private val Begin = Instant.parse("2026-01-01T00:00:00Z")
  private val FirstNumber = BigInt("49" + "5" * 54) // as long as the service's
}
