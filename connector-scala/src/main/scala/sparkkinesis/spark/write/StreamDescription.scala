package sparkkinesis.spark.write

import java.time.{Duration, Instant}
import java.util.concurrent.locks.ReentrantLock

import scala.concurrent.duration._

import sparkkinesis.client._
import sparkkinesis.model.StreamRef
import sparkkinesis.spark.errors.ConnectorError

/**
 * The service's description of one stream that rows go to, cached: an account may ask only 20 times
 * per second. Safe for many threads: while one thread asks, the others wait for the same answer.
 *
 * @param ask calls the service once
 * @param retry for a busy service
 * @param chance evenly distributed in `[0, 1)`
 */
private[spark] final class StreamDescription(
    stream: StreamRef,
    ask: () => StreamSummary,
    clock: Clock,
    retry: Retry,
    chance: () => Double
) {
  import StreamDescription._

  private val asking = new ReentrantLock
  private var last = Option.empty[Answer] // guarded by that lock

  /**
   * The description, at most this old.
   *
   * @throws KinesisException.NotFound if the stream does not exist. That is cached for a minute
   * @throws KinesisException or [[ConnectorError]] if the service does not answer, or the stream
   *   does not accept records. Neither is cached
   */
  def within(age: FiniteDuration): StreamSummary = {
    asking.lockInterruptibly() // a cancelled task does not wait for the call of another
    try last.filter(isYoung(_, age)).getOrElse(fresh()).summary
    finally asking.unlock()
  }

  private def isYoung(answer: Answer, age: FiniteDuration): Boolean = {
    val limit = if (answer.result.isLeft) MinAge.min(age) else age
    Duration.between(answer.at, clock.steady).toMillis < limit.toMillis
  }

  private def fresh(): Answer = {
    val result =
      try {
        val summary = retry(clock, chance)(ask())
        requireWritable(summary.status)
        Right(summary)
      } catch { case e: KinesisException.NotFound => Left(e) }
    val answer = Answer(result, clock.steady)
    last = Some(answer)
    answer
  }

  private def requireWritable(status: StreamStatus): Unit = status match {
    case StreamStatus.Active | StreamStatus.Updating => ()
    case StreamStatus.Creating | StreamStatus.Deleting =>
      throw ConnectorError(
        "KINESIS_STREAM_BUSY",
        s"Stream $stream is $status. Start the query when the stream is active."
      )
  }
}

private[spark] object StreamDescription {

  /** Often enough to notice a higher limit. */
  val MinAge: FiniteDuration = 1.minute

  private final case class Answer(
      result: Either[KinesisException.NotFound, StreamSummary],
      at: Instant
  ) {
    def summary: StreamSummary = result.fold(throw _, identity)
  }
}
