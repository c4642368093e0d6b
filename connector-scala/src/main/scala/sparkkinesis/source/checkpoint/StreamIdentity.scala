package sparkkinesis.source.checkpoint

import java.time.Instant

import sparkkinesis.compat._
import sparkkinesis.model.StreamArn
import sparkkinesis.source.SourceException

/** Whether a stream is still the one for which an offset was written. */
object StreamIdentity {

  /**
   * @param before when the stream in the checkpoint was created
   * @param now when the stream of this name was created
   * @return the error to throw if it is not
   */
  def mismatch(stream: StreamArn, before: Instant, now: Instant): Option[SourceException] =
    Option.when(before != now) {
      new SourceException(
        "KINESIS_STREAM_RECREATED",
        s"Stream $stream was created at $now, the stream in the checkpoint at $before. It was " +
          "deleted and created again, and the old records are gone. To read the new stream, use " +
          "a new checkpoint location."
      )
    }

  def deleted(stream: StreamArn, created: Instant): SourceException = new SourceException(
    "KINESIS_STREAM_DELETED",
    s"Stream $stream, created at $created, was deleted while the query read it, and its records " +
      "are gone. If you create it again, use a new checkpoint location to read it."
  )
}
