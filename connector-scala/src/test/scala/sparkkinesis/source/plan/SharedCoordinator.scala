package sparkkinesis.source.plan

import scala.concurrent.duration.FiniteDuration

import sparkkinesis.model.StreamShard
import sparkkinesis.model.offset.SourceOffset
import sparkkinesis.source.protocol._

/** A driver for tests of services: a coordinator with a lock, as many threads use it. */
final class SharedCoordinator(lease: FiniteDuration) extends FetchCoordinator(lease) {
  override def advance(start: SourceOffset, end: SourceOffset): Unit =
    synchronized(super.advance(start, end))

  override def answer(status: FetchStatus): FetchReply = synchronized {
    notifyAll()
    super.answer(status)
  }

  override def executorLost(executor: String): Unit = synchronized(super.executorLost(executor))

  override def frontiers: Map[StreamShard, Frontier] = synchronized(super.frontiers)

  override def counters: FetchCounters = synchronized(super.counters)

  override def stop(): Unit = synchronized(super.stop())
}
