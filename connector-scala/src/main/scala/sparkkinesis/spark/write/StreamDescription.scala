package sparkkinesis.spark.write

import java.time.{Duration, Instant}

import scala.concurrent.duration._

import sparkkinesis.client._
import sparkkinesis.model.StreamRef
import sparkkinesis.sink.rate.SharedCall
import sparkkinesis.spark.errors.ConnectorError

/**
 * The service's description of one stream that rows go to, cached: an account may ask only 20 times
 * per second. Safe for many threads: while one thread asks, the others wait for the same answer or
 * failure.
 *
 * @param ask calls the service once
 */
private[spark] final class StreamDescription(
    stream: StreamRef,
    ask: () => StreamSummary,
    clock: Clock
) {
  import StreamDescription._

  private val answers = new SharedCall[Answer]

  /**
   * The description, at most this old. If the service fails for a while, the last one lasts longer.
   *
   * @param patience how long a failed call is repeated if there is no last one
   * @throws KinesisException.NotFound if the stream does not exist. That is cached for a minute
   * @throws KinesisException or [[ConnectorError]] if the service does not answer, or the stream
   *   does not accept records. Neither is cached
   */
  def within(age: FiniteDuration, patience: FiniteDuration): StreamSummary =
    Retry.within(patience, clock)(within(age))

  /** The last answer of the service, however old. Calls no service. */
  def last: Option[StreamSummary] = answers.last.flatMap(_.result.toOption)

  private def within(age: FiniteDuration): StreamSummary = {
    val seen = answers.last
    seen.filter(isYoung(_, age)).getOrElse(answers.after(seen)(fresh())).summary
  }

  private def isYoung(answer: Answer, age: FiniteDuration): Boolean = {
    val limit = if (answer.result.isLeft) MinAge.min(age) else age
    Duration.between(answer.at, clock.steady).toMillis < limit.toMillis
  }

  private def fresh(): Answer = {
    val known = answers.last.map(_.result).filter(_.isRight)
    val result =
      try {
        val summary = ask()
        requireWritable(summary.status)
        Right(summary)
      } catch {
        case e: KinesisException.NotFound => Left(e)
        case e: KinesisException if e.isRetryable && known.nonEmpty =>
          log.warn(s"${e.getMessage.stripSuffix(".")}. Using the last known description.")
          known.get
      }
    Answer(result, clock.steady)
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
  private val log = org.slf4j.LoggerFactory.getLogger(classOf[StreamDescription])

  /** Often enough to notice a higher limit. */
  val MinAge: FiniteDuration = 1.minute

  private final case class Answer(
      result: Either[KinesisException.NotFound, StreamSummary],
      at: Instant
  ) {
    def summary: StreamSummary = result.fold(throw _, identity)
  }
}
