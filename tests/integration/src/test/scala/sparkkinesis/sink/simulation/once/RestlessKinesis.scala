package sparkkinesis.sink.simulation.once

import java.time.Instant

import scala.concurrent.duration.FiniteDuration

import sparkkinesis.client._
import sparkkinesis.model._

/**
 * The service as a read-back meets it: calls fail, shards change between them, calls take so long
 * that records expire, and records are visible late.
 */
private[once] final class RestlessKinesis(world: OnceWorld) extends KinesisClient {
  import world._

  /** Milliseconds that the read-back has taken. The agenda does not see them. */
  private var spent = 0L
  private var isReading = false // and not marking the shards

  /** A read-back begins. */
  def begin(): Unit = {
    spent = 0
    isReading = false
  }

  override def describeStream(stream: StreamRef): StreamSummary = kinesis.describeStream(stream)

  override def listShards(request: ListShardsRequest): ShardListing = restless(
    kinesis.listShards(request)
  )

  override def shardIterator(stream: StreamRef, shard: ShardId, position: Position): ShardIterator =
    restless {
      isReading = true
      kinesis.shardIterator(stream, shard, position)
    }

  override def getRecords(stream: StreamRef, iterator: ShardIterator, limit: Int): Page = restless {
    spent += random.nextInt(500).toLong
    val time = clock.now
    val page = visible(stream, iterator, time.toEpochMilli)
    val oldest = time.toEpochMilli - retention.toMillis
    page.copy(records = page.records.filter(_.arrivalMillis >= oldest), serverTime = Some(time))
  }

  private def visible(stream: StreamRef, iterator: ShardIterator, time: Long): Page = {
    val page = kinesis.getRecords(stream, iterator, 1 + random.nextInt(10))
    val seen = page.records.takeWhile(it => it.arrivalMillis + delayMillis(it) <= time)
    if (seen.size == page.records.size) page
    else {
      if (seen.isEmpty) Page(Vector.empty, Some(iterator), 0, Nil)
      else kinesis.getRecords(stream, iterator, seen.size).copy(millisBehindLatest = Some(0))
    }
  }

  private def delayMillis(record: Record): Long =
    (record.sequenceNumber.hashCode & Int.MaxValue) % (behaviour.visibilityDelay.toMillis + 1)

  override def putRecords(stream: StreamRef, entries: Seq[PutEntry]): Seq[PutResult] = restless {
    val results = kinesis.putRecords(stream, entries)
    if (fails()) throw new KinesisException.Unreachable("The answer was lost.") else results
  }

  private def restless[A](call: => A): A = {
    if (!isCalm && reshards > 0 && random.nextInt(40) == 0) {
      shards.change()
      features += "reshard while reading back"
    }
    if (fails() && random.nextInt(4) == 0) throw new KinesisException.Throttled("Injected.")
    call
  }

  override def close(): Unit = ()

  /**
   * The time of the agenda, and what the read-back has taken. A pause while it marks the shards
   * ends the read-back: the history repeats it later.
   */
  val clock: Clock = new Clock {
    override def now: Instant = world.agenda.clock.now.plusMillis(spent)
    override def chance(): Double = world.random.nextDouble()

    override def sleep(duration: FiniteDuration): Unit =
      if (isReading) spent += duration.toMillis
      else throw new Paused(duration)
  }
}

private[once] final class Paused(val duration: FiniteDuration) extends RuntimeException
