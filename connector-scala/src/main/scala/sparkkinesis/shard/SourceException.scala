package sparkkinesis.shard

/**
 * A query cannot continue: for example, its checkpoint is not usable or records are no longer
 * available.
 *
 * @param condition a stable name, such as `KINESIS_DATA_LOSS`
 * @param message names the stream, shard or position, and ends with what to do
 */
private[sparkkinesis] class SourceException(val condition: String, message: String)
    extends RuntimeException(message)
