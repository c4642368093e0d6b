package sparkkinesis.shard.pace

import java.util.concurrent.ConcurrentHashMap

import scala.concurrent.duration._

import sparkkinesis.model.ShardId

/**
 * What all readers of one stream on one executor share, so that the calls of many shards stay
 * within the quotas of the stream and of the account. Thread-safe.
 *
 * @param isAws whether the stream's endpoint is one of AWS, so that its quotas are known. At other
 *   endpoints reading shows whether there are quotas.
 */
private[sparkkinesis] final class SharedReads(isAws: Boolean) extends AutoCloseable {
  import SharedReads._

  val facts = new StreamFacts

  private val evidence = new QuotaEvidence(isAws)
  private val paces = new ConcurrentHashMap[ShardId, ReadPace]
  @volatile private var cleanedAt = 0L

  /**
   * The pace of a shard.
   *
   * @param now in milliseconds since any instant
   */
  def pace(shard: ShardId, now: Long): ReadPace =
    Option(paces.get(shard)).getOrElse {
      if (now - cleanedAt > CleaningPeriod.toMillis) clean(now)
      paces.computeIfAbsent(shard, _ => new ReadPace(evidence, now))
    }

  /** Number of shards. */
  private[pace] def size: Int = paces.size

  /** Shards end, or other executors read them. */
  private def clean(now: Long): Unit = {
    cleanedAt = now
    paces.values.removeIf((pace: ReadPace) => pace.isIdle(now)): Unit
  }

  /** Nothing to close: a pool keeps it while somebody reads the stream. */
  override def close(): Unit = ()
}

private object SharedReads {
  private val CleaningPeriod = 1.minute
}
