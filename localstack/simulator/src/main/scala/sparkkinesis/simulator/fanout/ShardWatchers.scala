package sparkkinesis.simulator.fanout

import sparkkinesis.model.StreamArn
import sparkkinesis.simulator.state.{ShardState, State, StreamState}

/** Wakes subscriptions when their shards change. Safe for use by many threads. */
private[simulator] final class ShardWatchers {
  import ShardWatchers._

  @volatile private var watchers: Map[StreamArn, Set[Watcher]] = Map.empty

  /** @param wake runs on the thread that made the change, so it must not wait */
  def add(subscribed: Subscribed, wake: () => Unit): AutoCloseable = {
    val stream = subscribed.consumer.stream
    val watcher = new Watcher(ShardState.number(subscribed.shard).getOrElse(-1), wake)
    replace(stream)(_ + watcher)
    () => replace(stream)(_ - watcher)
  }

  def size: Int = watchers.valuesIterator.map(_.size).sum

  /** Compares references only, because this runs at each change. */
  def changed(before: State, after: State): Unit = watchers.foreach { case (stream, all) =>
    (before.streams.get(stream), after.streams.get(stream)) match {
      case (Some(old), Some(next)) if old eq next => ()
      case (old, next) => all.foreach(w => if (differs(old, next, w.shard)) w.wake())
    }
  }

  /** Wakes all subscriptions, because the clock was moved. */
  def wakeAll(): Unit = watchers.valuesIterator.flatten.foreach(_.wake())

  private def replace(stream: StreamArn)(change: Set[Watcher] => Set[Watcher]): Unit =
    synchronized {
      val rest = change(watchers.getOrElse(stream, Set.empty))
      watchers = if (rest.isEmpty) watchers - stream else watchers.updated(stream, rest)
    }
}

private[simulator] object ShardWatchers {
  private final class Watcher(val shard: Int, val wake: () => Unit)

  private def differs(old: Option[StreamState], next: Option[StreamState], shard: Int): Boolean =
    (old, next) match {
      case (Some(a), Some(b)) =>
        (a.consumers ne b.consumers) || (a.change ne b.change) ||
        !a.shards.lift(shard).exists(s => b.shards.lift(shard).exists(_ eq s))
      case _ => true
    }
}
