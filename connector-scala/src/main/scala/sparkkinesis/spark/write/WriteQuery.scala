package sparkkinesis.spark.write

import scala.collection.mutable
import scala.concurrent.duration._
import scala.util.Using

import sparkkinesis.client._
import sparkkinesis.client.aws.ClientPool
import sparkkinesis.spark.metrics.WriteReports

/**
 * What the driver keeps about a streaming write from one micro-batch to the next: Spark plans each
 * micro-batch from the beginning. A batch write has one of its own.
 *
 * @param ask calls the service once, for a stream's description
 */
private[spark] final class WriteQuery(
    ask: StreamAccess => StreamSummary = WriteQuery.ask,
    clock: Clock = SystemClock,
    chance: () => Double = SystemChance
) {
  private val descriptions = mutable.Map.empty[StreamAccess, StreamDescription]

  /** The reports of the tasks. */
  val reports = new WriteReports

  /** The stream's description, at most a minute old. Throws what [[StreamDescription]] does. */
  def describe(stream: StreamAccess): StreamSummary = synchronized {
    val description = descriptions.getOrElseUpdate(
      stream,
      new StreamDescription(stream.ref, () => ask(stream), clock, WriteQuery.Retrying, chance)
    )
    description.within(StreamDescription.MinAge)
  }
}

private[spark] object WriteQuery {
  private val Retrying = Retry(attempts = 5, Backoff(base = 200.millis, cap = 2.seconds))

  private def ask(stream: StreamAccess): StreamSummary =
    Using.resource(ClientPool.shared.borrow(stream.client))(_.value.describeStream(stream.ref))
}
