package sparkkinesis.source

/**
 * Reads shards in Spark's real-time mode, where a task runs as long as a batch, and hands out each
 * record when it arrives.
 *
 * On the executors [[realtime.RealTimeShards]] is between the fetch service and the tasks. On the
 * driver [[query.RealTimeQuery]] decides when a batch ends early. Has no threads.
 */
package object realtime
