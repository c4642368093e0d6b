package sparkkinesis.sink.write

import sparkkinesis.model.ShardMap
import sparkkinesis.sink.lane.Request
import sparkkinesis.sink.once.ShardInDoubt

/** Makes the calls of a [[WriteLoop]], and keeps the time for it. */
private[sink] trait WriteCalls {

  /** Sends the request, and reports the answer to [[WriteLoop.answered]]. */
  def send(stream: StreamWriter, request: Request): Unit

  /**
   * Lists the shards, and reports them to [[WriteLoop.listed]].
   *
   * @param known the shards that the stream is known to have
   */
  def list(stream: StreamWriter, known: ShardMap): Unit

  /**
   * Looks into these shards for what this writer has sent, and reports it to
   * [[WriteLoop.recovered]]. Only for exactly once.
   */
  def recover(stream: StreamWriter, shards: Seq[ShardInDoubt], askedAt: Long): Unit

  /** [[WriteLoop.tickAt]] is earlier than before. */
  def wakeEarlier(): Unit

  /** Called once, with the first failure. Calls in progress cannot make the writer succeed. */
  def failed(e: Throwable): Unit
}
