package sparkkinesis.spark.write

import scala.collection.mutable
import scala.concurrent.duration.FiniteDuration
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
    clock: Clock = SystemClock
) {
  private val descriptions = mutable.Map.empty[StreamAccess, StreamDescription]

  /** The reports of the tasks. */
  val reports = new WriteReports

  /**
   * The stream's description, at most a minute old, or the last one if the service fails for a
   * while. Throws what [[StreamDescription]] does.
   */
  def describe(stream: StreamAccess, patience: FiniteDuration): StreamSummary =
    description(stream).within(StreamDescription.MinAge, patience)

  private def description(stream: StreamAccess): StreamDescription = synchronized {
    descriptions.getOrElseUpdate(
      stream,
      new StreamDescription(stream.ref, () => ask(stream), clock)
    )
  }
}

private[spark] object WriteQuery {
  private def ask(stream: StreamAccess): StreamSummary =
    Using.resource(ClientPool.shared.borrow(stream.client))(_.value.describeStream(stream.ref))
}
