package sparkkinesis.simulator.service

import java.time.Instant

import scala.annotation.tailrec
import scala.concurrent.duration._

import sparkkinesis.client._
import sparkkinesis.model._
import sparkkinesis.simulator.fanout.{NextEvent, ShardWatchers, Subscribed, SubscriptionStep}
import sparkkinesis.simulator.fault.{Fault, Faults, Refusal, ScriptedFaults}
import sparkkinesis.simulator.listing.{ListMoreShards, ListShards, ListStreams}
import sparkkinesis.simulator.operation._
import sparkkinesis.simulator.paging.ListFilter
import sparkkinesis.simulator.state.{Failure, Settings}

/**
 * The local Kinesis in memory: the port without a network. Safe for use by many threads.
 *
 * A caller waits at most 30 seconds of the clock. If a fault stalls a call for longer, the call
 * throws `Unreachable`.
 *
 * @param baseClock clock of record arrival, retention and token expiry
 * @param faults faults of calls that no rule of `script` strikes
 * @param journal stores and restores the streams; closed with this service
 */
final class SimulatedKinesis(
    baseClock: Clock,
    settings: Settings = Settings(),
    faults: Faults = Faults.None,
    journal: Journal = Journal.None
) extends KinesisClient
    with SimulatedStreamAdmin {
  private val clock = new ShiftedClock(baseClock)

  /** The rules of faults. They may change at any time. */
  val script = new ScriptedFaults(faults)
  private val service = {
    val kept = journal.restored(settings)
    clock.advanceTo(kept.lastChange)
    new SimulatedService(clock, script, journal, kept.state)
  }

  /** Counts of all calls to this service, including those over HTTP. */
  def statistics: CallStatistics = service.statistics

  /** The service's time. */
  def now: Instant = clock.now

  /**
   * Moves the service's time forward permanently.
   *
   * @param duration not negative
   */
  def advance(duration: FiniteDuration): Unit = {
    clock.advance(duration)
    watchers.wakeAll()
  }

  /**
   * Whether timers measure the service's time correctly, except for `advance`. A caller's clock may
   * run differently.
   */
  private[simulator] val followsSystemClock: Boolean = baseClock eq SystemClock

  /** Runs an operation for the HTTP server, which applies the fault itself. */
  private[simulator] def reply[A](operation: Operation[A]): Reply[A] = service.run(operation)

  /** Runs an operation, and applies its fault as a caller in memory sees it. */
  private[simulator] def run[A](operation: Operation[A]): Either[Failure, A] = {
    val reply = service.run(operation)
    reply.fault match {
      case None => reply.answer
      case Some(Fault.Stalled(time)) =>
        clock.sleep(time.min(SimulatedKinesis.CallTimeout))
        if (time < SimulatedKinesis.CallTimeout) reply.answer else Left(Failure.NoAnswer)
      case Some(Fault.ConnectionReset | Fault.AnswerLost | Fault.AnswerTruncated) =>
        Left(Failure.NoAnswer)
    }
  }

  /** Runs an operation without faults and quotas, to set up the service before the first call. */
  private[simulator] def prepare[A](operation: Operation[A]): Either[Failure, A] =
    service.prepare(operation)

  override protected[simulator] def nextEvent(
      subscribed: Subscribed
  ): Either[Failure, SubscriptionStep] =
    service.nextEvent(NextEvent(subscribed))

  /** The subscriptions that wait for changes of their shards. */
  private[simulator] def watchers: ShardWatchers = service.watchers

  /** The API of consumers and subscriptions. */
  override val fanOut: FanOut = new FanOut(this)

  override def describeStream(stream: StreamRef): StreamSummary =
    answer(DescribeStreamSummary(LocalAccount.arn(stream))).summary

  override def listShards(request: ListShardsRequest): ShardListing = {
    val page = request match {
      case ListShardsRequest.First(stream, filter) =>
        val listed = filter match {
          case ShardFilter.FromTrimHorizon => ListFilter.FromTrimHorizon
          case ShardFilter.AtLatest => ListFilter.AtLatest
        }
        answer(ListShards(LocalAccount.arn(stream), listed, None, ListShards.DefaultLimit))
      case ListShardsRequest.Next(_, token) =>
        answer(ListMoreShards(token, ListShards.DefaultLimit))
    }
    ShardListing(page.shards, page.nextToken, Some(clock.now))
  }

  override def shardIterator(
      stream: StreamRef,
      shard: ShardId,
      position: Position
  ): ShardIterator = answer(GetShardIterator(LocalAccount.arn(stream), shard, position))

  override def getRecords(stream: StreamRef, iterator: ShardIterator, limit: Int): Page =
    strict(answer(GetRecords(Some(LocalAccount.arn(stream)), iterator, limit)))
      .copy(serverTime = Some(clock.now))

  override def putRecords(stream: StreamRef, entries: Seq[PutEntry]): Seq[PutResult] =
    answer(PutRecords(LocalAccount.arn(stream), entries)).result

  override def createStream(stream: StreamName, shards: Int): Unit = {
    answer(CreateStream(LocalAccount.arn(stream), shards))
    settle()
  }

  override def deleteStream(stream: StreamName): Unit = {
    answer(DeleteStream(LocalAccount.arn(stream)))
    settle()
  }

  override def listStreams(): Seq[StreamName] = {
    @tailrec def more(found: Vector[StreamName]): Seq[StreamName] = {
      val request = ListStreams(
        LocalAccount.Region,
        LocalAccount.Account,
        found.lastOption,
        ListStreams.DefaultLimit
      )
      val page = answer(request)
      val all = found ++ page.streams.map(_.name)
      if (page.nextToken.isEmpty) all else more(all)
    }
    more(Vector.empty)
  }

  override def splitShard(stream: StreamName, shard: ShardId, start: HashKey): Unit = {
    answer(SplitShard(LocalAccount.arn(stream), shard, start))
    settle()
  }

  override def mergeShards(stream: StreamName, shard: ShardId, adjacent: ShardId): Unit = {
    answer(MergeShards(LocalAccount.arn(stream), shard, adjacent))
    settle()
  }

  override def updateShardCount(stream: StreamName, target: Int): Unit = {
    beginScaling(stream, target)
    settle()
    untilActive(stream)
  }

  /** `UpdateShardCount`, which returns before the splits and merges with `reshardInterval`. */
  def beginScaling(stream: StreamName, target: Int): Unit = {
    answer(UpdateShardCount(LocalAccount.arn(stream), target))
    ()
  }

  override def putRecord(stream: StreamName, entry: PutEntry): PutResult.Written =
    answer(PutRecord(LocalAccount.arn(stream), entry)).result

  /** Closes the journal. If there is one, later changes fail. */
  override def close(): Unit = journal.close()

  /** A page whose records stay the same objects, as callers of the port expect. */
  private def strict(page: Page): Page = page.copy(records = page.records.toVector)

  override protected def change(operation: Operation[Any]): Unit = {
    answer(operation)
    settle()
  }

  @tailrec private def untilActive(stream: StreamName): Unit = {
    val described = prepare(DescribeStreamSummary(LocalAccount.arn(stream)))
    if (described.exists(_.summary.status == StreamStatus.Updating)) {
      clock.sleep(settings.behaviour.reshardInterval.max(1.milli))
      untilActive(stream)
    }
  }

  private def settle(): Unit =
    if (settings.changeTime.toMillis > 0) clock.sleep(settings.changeTime)

  override protected[simulator] def answer[A](operation: Operation[A]): A =
    run(operation).fold(failure => throw Refusal.exception(operation, failure), identity)
}

object SimulatedKinesis {

  /** The region of streams that are given without an ARN. */
  val Region: String = LocalAccount.Region

  /** The account of streams that are given without an ARN. */
  val Account: String = LocalAccount.Account

  /** How long a caller waits for a response. */
  private val CallTimeout = 30.seconds

  def arn(stream: StreamName): StreamArn = LocalAccount.arn(stream)
}
