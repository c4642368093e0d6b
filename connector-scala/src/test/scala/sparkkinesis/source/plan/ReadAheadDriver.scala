package sparkkinesis.source.plan

import scala.concurrent.duration.FiniteDuration

import sparkkinesis.model.StreamShard
import sparkkinesis.model.offset.SourceOffset
import sparkkinesis.source.protocol._

/** A driver that only assigns shards and hears reports, with a lock: many threads may use it. */
final class ReadAheadDriver(lease: FiniteDuration) {
  val executors = new ExecutorTable(lease)
  val ahead = new ReadAhead(executors)

  def advance(start: SourceOffset, end: SourceOffset): Unit =
    synchronized(ahead.advance(start, end))

  def answer(status: Heartbeat): HeartbeatReply = synchronized {
    notifyAll()
    ahead.heard(status)
  }

  def lost(executor: String): Unit = synchronized {
    executors.lose(executor)
    ahead.reassign(Set(executor))
  }

  def tick(): Unit = synchronized(ahead.reassign(executors.tick()))

  def frontiers: Map[StreamShard, Frontier] = synchronized(ahead.frontiers)

  def counters: FetchCounters = synchronized(executors.counters)

  def stop(): Unit = synchronized {
    executors.stop()
    ahead.changed()
  }
}
