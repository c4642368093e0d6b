package sparkkinesis.source

/**
 * Where reading begins and ends, as the options `startingPosition` and `endingPosition` say: the
 * values, their parser, and the checks of them.
 *
 * Runs on the driver, in the thread that defines or starts a query. Has no threads of its own, and
 * makes no call. Knows shards and options, but no batches and no Spark.
 */
package object position
