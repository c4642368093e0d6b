package sparkkinesis.source

import sparkkinesis.client.KinesisClient
import sparkkinesis.model.StreamRef

/**
 * A stream as it is asked for, and whom to ask: streams of several regions have a client each.
 *
 * @param ref as the user named it
 */
final case class StreamClient(ref: StreamRef, client: KinesisClient)
