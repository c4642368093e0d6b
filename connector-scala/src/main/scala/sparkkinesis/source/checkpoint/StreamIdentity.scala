package sparkkinesis.source.checkpoint

import sparkkinesis.client.{KinesisClient, KinesisException, StreamSummary}
import sparkkinesis.compat._
import sparkkinesis.model.StreamRef
import sparkkinesis.model.offset.StreamOffset
import sparkkinesis.source.SourceException

/** Whether a stream is still the one for which an offset was written. */
object StreamIdentity {

  /** @return the error to throw if it is not */
  def mismatch(summary: StreamSummary, offset: StreamOffset): Option[SourceException] =
    Option.when(offset.created != summary.created) {
      new SourceException(
        "KINESIS_STREAM_RECREATED",
        s"Stream ${summary.arn} was created at ${summary.created}, the stream in the checkpoint " +
          s"at ${offset.created}. It was deleted and created again, and the old records are " +
          "gone. To read the new stream, use a new checkpoint location."
      )
    }

  /**
   * Describes the stream. Call this only for a reason: an account has few of these calls per
   * second.
   *
   * @return the error to throw if the stream was deleted, or deleted and created again
   * @throws KinesisException if the call fails
   */
  def changed(
      client: KinesisClient,
      stream: StreamRef,
      offset: StreamOffset
  ): Option[SourceException] =
    try mismatch(client.describeStream(stream), offset)
    catch { case _: KinesisException.NotFound => Some(deleted(offset)) }

  private def deleted(offset: StreamOffset) = new SourceException(
    "KINESIS_STREAM_DELETED",
    s"Stream ${offset.stream}, created at ${offset.created}, was deleted while the query read " +
      "it, and its records are gone. If you create it again, use a new checkpoint location to " +
      "read it."
  )
}
