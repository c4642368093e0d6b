package sparkkinesis.source

/**
 * Why a query cannot read on: a checkpoint it must not use, or records that are gone.
 *
 * @param condition a stable name, such as `KINESIS_DATA_LOSS`
 * @param message names stream, shard and position, and says what to do
 */
class SourceException(val condition: String, message: String) extends RuntimeException(message)
