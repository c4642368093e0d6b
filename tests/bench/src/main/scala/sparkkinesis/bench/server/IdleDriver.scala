package sparkkinesis.bench.server

import java.time.Instant

import scala.collection.immutable.SortedMap
import scala.concurrent.duration._
import scala.util.Success

import sparkkinesis.bench.raw.RawClient
import sparkkinesis.client.{Moment, StreamStatus, StreamSummary}
import sparkkinesis.model.offset.{Progress, ShardProgress, SourceOffset, StreamOffset}
import sparkkinesis.model.{HashKeyRange, SequenceNumber, Shard, ShardId, StreamArn, StreamName}
import sparkkinesis.shard.ServiceTime
import sparkkinesis.source.checkpoint.DescribedStream
import sparkkinesis.source.options.SourceOptions
import sparkkinesis.source.protocol._
import sparkkinesis.source.query._

/**
 * The driver of a query in which nothing happens: executors report empty pages, and Spark asks for
 * a batch. There is no service.
 */
final class IdleDriver(shards: Int) {
  import IdleDriver._

  private val listed = (0 until shards).zip(HashKeyRange.even(shards)).map { case (n, range) =>
    Shard(ShardId(f"shardId-$n%012d"), Nil, range, SequenceNumber("0"), None)
  }
  private val start = {
    val unread = ShardProgress(Progress.TrimHorizon, Set.empty, Some(Begin))
    SourceOffset.of(
      Seq(StreamOffset(Arn, Instant.EPOCH, SortedMap.from(listed.map(_.id -> unread))))
    )
  }
  private val summary =
    StreamSummary(Arn, StreamStatus.Active, Instant.EPOCH, 24.hours, shards, 1 << 20)
  private val query = {
    val options = SourceOptions.parse(Map("streamArn" -> s"$Arn"), None)
    val described = DescribedStream(options.streams.head, summary, new ServiceTime)
    new MicroBatchQuery(options, new QueryStreams(options, Seq(described), () => 0.5))
  }
  private var millis = Begin.toEpochMilli
  private var plans = Map.empty[String, HeartbeatReply]

  query.asked(start, ReadLimits.None, moment)
  (1 to 2).foreach(_ => Executors.foreach(hear(_, part = 0, parts = 1)))

  /** A second with five heartbeats of each executor, and a hundred polls of Spark. */
  def second(): Unit = {
    val beats = Executors.size * Beats
    (0 until beats).foreach { beat =>
      millis += 1000 / beats
      hear(Executors(beat % Executors.size), beat / Executors.size, Beats)
      if (beat % (beats / 2) == 0) query.tick(moment)
      query.asked(start, ReadLimits.None, moment) match {
        case Answer.Ready(end) if end eq start =>
        case _ => throw new IllegalStateException("An idle query found something.")
      }
      query.latest
      carryOut()
    }
  }

  private def hear(executor: String, part: Int, parts: Int): Unit = {
    val known = plans.get(executor)
    val assigned = known.flatMap(_.plan).fold(Vector.empty[Assignment])(_.assignments)
    val reports = assigned.zipWithIndex.collect {
      case (it, index) if index % parts == part =>
        FetchReport(it.shard, it.generation, it.from, Vector.empty, Nil, 0, millis)
    }
    val version = known.fold(0L)(_.version)
    val status =
      Heartbeat(executor, s"host-$executor", reports, FetchCounters.Zero, None, version)
    val reply = query.heard(status)
    plans += executor -> reply.copy(plan = reply.plan.orElse(known.flatMap(_.plan)))
    carryOut()
  }

  private def carryOut(): Unit = query.commands().foreach {
    case Command.List(arn) => query.listed(arn, Success(listed), moment)
    case Command.FindExecutors => query.executorsFound(Executors.map(_ -> "host").toMap)
    case _ =>
  }

  private def moment: Moment = {
    val instant = Instant.ofEpochMilli(millis)
    Moment(instant, instant)
  }
}

private object IdleDriver {
  private val Executors = (1 to 20).map(_.toString)
  private val Beats = 5 // of each executor in a second
  private val Begin = Instant.parse("2026-01-01T00:00:00Z")
  private val Arn = StreamArn("aws", RawClient.Region, "123456789012", StreamName("paper"))
}
