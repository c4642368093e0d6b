package sparkkinesis.source.simulation

import java.time.Instant

import scala.collection.mutable
import scala.util.Random

import sparkkinesis.client._
import sparkkinesis.model._
import sparkkinesis.simulator.service.SimulatedKinesis

/**
 * Enhanced fan-out on which subscriptions end, become silent, repeat events, and send them late,
 * even after they were closed.
 *
 * @param isCalm whether nothing of this happens
 */
final class RoughFanOut(kinesis: SimulatedKinesis, random: Random, isCalm: () => Boolean)
    extends FanOutClient {
  private val late = mutable.Queue.empty[() => Unit]

  override def describe(consumer: ConsumerRef): ConsumerSummary = kinesis.fanOut.describe(consumer)

  override def register(stream: StreamArn, name: String): ConsumerSummary =
    kinesis.fanOut.register(stream, name)

  override def subscribe(
      consumer: ConsumerArn,
      shard: ShardId,
      position: Position,
      subscriber: EventSubscriber
  ): EventSubscription = kinesis.fanOut.subscribe(consumer, shard, position, new Rough(subscriber))

  /** Passes on the events that are due. */
  def push(): Unit = {
    val waiting = late.dequeueAll(_ => true)
    waiting.foreach(_())
    kinesis.fanOut.push()
  }

  private final class Rough(to: EventSubscriber) extends EventSubscriber {
    private var isSilent = false
    private var lateEvents = 0 // later ones must not overtake them

    override def opened(serverTime: Option[Instant]): Unit = to.opened(serverTime)

    override def event(event: ShardEvent): Unit = if (!isSilent) {
      if (lateEvents > 0) delay(() => to.event(event))
      else if (isCalm()) to.event(event)
      else
        random.nextInt(12) match {
          case 0 => delay(() => to.event(event))
          case 1 =>
            to.event(event)
            to.event(event)
          case 2 => isSilent = true
          case 3 =>
            to.event(event)
            isSilent = true
            to.ended(None)
          case _ => to.event(event)
        }
    }

    override def ended(failure: Option[KinesisException]): Unit = if (!isSilent) {
      if (lateEvents > 0) delay(() => to.ended(failure)) else to.ended(failure)
    }

    private def delay(signal: () => Unit): Unit = {
      lateEvents += 1
      late.enqueue { () =>
        lateEvents -= 1
        signal()
      }
    }
  }
}

/**
 * The local Kinesis with another enhanced fan-out.
 *
 * @param overtaken the time, if records expire as fast as they are read: then pages are empty, as
 *   old as the retention period, and lead to no later ones
 */
final class RoughKinesis(
    kinesis: SimulatedKinesis,
    override val fanOut: FanOutClient,
    overtaken: () => Option[Instant]
) extends KinesisClient {
  override def describeStream(stream: StreamRef): StreamSummary = kinesis.describeStream(stream)
  override def listShards(request: ListShardsRequest): ShardListing = kinesis.listShards(request)
  override def shardIterator(s: StreamRef, shard: ShardId, position: Position): ShardIterator =
    kinesis.shardIterator(s, shard, position)
  override def getRecords(stream: StreamRef, iterator: ShardIterator, limit: Int): Page =
    overtaken().fold(kinesis.getRecords(stream, iterator, limit)) { now =>
      Page(Vector.empty, Some(iterator), ServiceLimits.DefaultRetention.toMillis, Nil)
        .copy(serverTime = Some(now))
    }
  override def putRecords(stream: StreamRef, entries: Seq[PutEntry]): Seq[PutResult] =
    kinesis.putRecords(stream, entries)
  override def close(): Unit = kinesis.close()
}
