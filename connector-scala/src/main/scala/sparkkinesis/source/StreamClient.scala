package sparkkinesis.source

import sparkkinesis.client.KinesisClient
import sparkkinesis.model.StreamRef
import sparkkinesis.source.pace.SharedReads

/**
 * A stream, and the client for its region and account.
 *
 * @param ref the stream as the user named it
 * @param shared what all readers of the stream on this executor share
 */
final case class StreamClient(
    ref: StreamRef,
    client: KinesisClient,
    shared: SharedReads = new SharedReads(isAws = false)
)
