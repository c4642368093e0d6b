package sparkkinesis.shard

import sparkkinesis.client.KinesisClient
import sparkkinesis.model.{ConsumerArn, StreamRef}
import sparkkinesis.shard.pace.SharedReads

/**
 * A stream, and the client for its region and account.
 *
 * @param ref the stream as the user named it
 * @param shared what all readers of the stream on this executor share
 * @param consumer of enhanced fan-out, by which shards are read ahead; `None` if they are polled
 */
private[sparkkinesis] final case class StreamClient(
    ref: StreamRef,
    client: KinesisClient,
    shared: SharedReads = new SharedReads(isAws = false),
    consumer: Option[ConsumerArn] = None
)
