package sparkkinesis

/**
 * The Kinesis source without Spark. `position` and `options` hold what a user wants to read,
 * `checkpoint` what a query has read. On the driver `plan` plans batches and `watch` watches the
 * shards; on the executors `fetch` reads ahead and `replay` reads a known range again. `protocol`
 * holds their messages.
 */
package object source
