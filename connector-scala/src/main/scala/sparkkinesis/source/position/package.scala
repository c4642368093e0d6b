package sparkkinesis.source

/**
 * Where reading begins and ends, as the options `startingPosition` and `endingPosition` say: the
 * values, their parser, the checks of them, and the place where each shard begins.
 *
 * Runs on the driver, in the thread that defines or starts a query. Has no threads of its own. Only
 * [[position.RecordLookup]] calls Kinesis. Knows shards and options, but no batches and no Spark.
 */
package object position
