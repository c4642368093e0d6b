package sparkkinesis.sink

/**
 * The records of one task that are not acknowledged yet: a lane per shard, aggregates, and requests
 * made of them. State machines of an executor's task, without threads and without a clock: the
 * caller passes the time.
 */
package object lane
