package sparkkinesis.spark.write

import java.time.Instant
import java.util.concurrent.ConcurrentHashMap

import scala.concurrent.duration._
import scala.jdk.DurationConverters._
import scala.util.Using

import sparkkinesis.client._
import sparkkinesis.client.aws.ClientPool
import sparkkinesis.model.StreamRef
import sparkkinesis.spark.ConnectorError
import sparkkinesis.spark.read.FetchRun

/**
 * What the driver knows of the streams its queries write to: that they are there, and their limits.
 *
 * Spark plans each micro-batch anew; the service is asked once a minute and query, for it allows an
 * account only 20 such calls a second.
 *
 * @param ask one call to the service
 * @param chance evenly distributed in `[0, 1)`
 */
private[spark] final class StreamDescriptions(
    ask: (StreamRef, ClientConfig) => StreamSummary,
    clock: Clock,
    chance: () => Double
) {
  import StreamDescriptions._

  private val known = new ConcurrentHashMap[Key, Answer]

  /** @throws KinesisException or [[ConnectorError]] where there is no such stream to write to */
  def describe(queryId: String, stream: StreamRef, client: ClientConfig): StreamSummary = {
    val limit = clock.now.minus(MaxAge.toJava)
    known.values.removeIf(_.at.isBefore(limit))
    val key = Key(queryId, stream, client)
    Option(known.get(key)).map(_.summary).getOrElse {
      val summary = Retrying(clock, chance)(ask(stream, client))
      requireWritable(stream, summary.status)
      known.put(key, Answer(summary, clock.now))
      summary
    }
  }
}

private[spark] object StreamDescriptions {
  private final case class Key(queryId: String, stream: StreamRef, client: ClientConfig)
  private final case class Answer(summary: StreamSummary, at: Instant)

  private val MaxAge = 1.minute
  private val Retrying = Retry(attempts = 5, Backoff(base = 200.millis, cap = 2.seconds))

  /** This driver's. */
  val shared: StreamDescriptions = new StreamDescriptions(
    (stream, config) =>
      Using.resource(ClientPool.shared.borrow(config))(_.client.describeStream(stream)),
    SystemClock,
    FetchRun.chance
  )

  /** @throws ConnectorError where the stream is being made or deleted */
  def requireWritable(stream: StreamRef, status: StreamStatus): Unit = status match {
    case StreamStatus.Active | StreamStatus.Updating => ()
    case StreamStatus.Creating | StreamStatus.Deleting =>
      throw ConnectorError(
        "KINESIS_STREAM_BUSY",
        s"Stream $stream is $status. Start the query when the stream is active."
      )
  }
}
