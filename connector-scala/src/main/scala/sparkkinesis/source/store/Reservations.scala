package sparkkinesis.source.store

import java.time.Instant

import scala.collection.mutable
import scala.concurrent.duration._

import sparkkinesis.model.StreamShard

/** Room for pages that were requested, one per shard. Its owner's lock guards it. */
private[store] final class Reservations {
  import Reservations._

  private val reserved = mutable.Map.empty[StreamShard, Reservation]

  def add(shard: StreamShard, bytes: Long, now: Instant): Unit =
    reserved.update(shard, Reservation(bytes, now))

  def remove(shard: StreamShard): Unit = reserved.remove(shard): Unit

  /** Reserved bytes without those of calls that hang, which must not hold up other shards. */
  def bytes(now: Instant): Long = {
    val hanging = now.minusMillis(HangTime.toMillis)
    reserved.valuesIterator.filterNot(_.since.isBefore(hanging)).map(_.bytes).sum
  }
}

private object Reservations {

  /** Time after which a call hangs. Most calls take far less. */
  private val HangTime = 3.seconds

  private final case class Reservation(bytes: Long, since: Instant)
}
