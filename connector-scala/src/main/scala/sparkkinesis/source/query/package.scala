package sparkkinesis.source

/**
 * Every decision of the driver about a running query: [[query.MicroBatchQuery]] and
 * [[query.RealTimeQuery]], with [[query.QueryStreams]].
 *
 * Their methods are events, which carry the time. They return what Spark's thread asked for, or
 * leave [[query.Command]]s. None of them has a thread or a lock, calls Kinesis, or knows Spark:
 * [[sparkkinesis.spark.read.SourceService]] does that, and a simulation does it in its place.
 */
package object query
