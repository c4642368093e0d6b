package sparkkinesis.source

import sparkkinesis.client.KinesisClient
import sparkkinesis.model.StreamRef

/**
 * A stream, and the client for its region and account.
 *
 * @param ref the stream as the user named it
 */
final case class StreamClient(ref: StreamRef, client: KinesisClient)
