package sparkkinesis.source.checkpoint

import sparkkinesis.client.{KinesisClient, KinesisException, StreamSummary}
import sparkkinesis.compat._
import sparkkinesis.model.StreamRef
import sparkkinesis.model.offset.StreamOffset
import sparkkinesis.source.SourceException

/** Whether a stream is still the one an offset was written for. */
object StreamIdentity {

  /** @return why not, to be thrown */
  def mismatch(summary: StreamSummary, offset: StreamOffset): Option[SourceException] =
    Option.when(offset.created != summary.created) {
      new SourceException(
        "KINESIS_STREAM_RECREATED",
        s"Stream ${summary.arn} was created at ${summary.created}, the one in the checkpoint at " +
          s"${offset.created}: it was deleted and made again, and its records are gone. Use a new " +
          "checkpoint location to read the new stream."
      )
    }

  /**
   * Asks the service; for when something is odd, as an account has few of these calls a second.
   *
   * @return that it was deleted, or deleted and made again
   * @throws KinesisException where the service does not tell
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
    s"Stream ${offset.stream} of ${offset.created} was deleted while the query read it, and its " +
      "records are gone. If it is made again, use a new checkpoint location to read the new one."
  )
}
