package sparkkinesis.sink

/**
 * The writer of one task on an executor. `WriteLoop` and `StreamWriter` decide what to send and
 * when, without threads; `RecordWriter` gives them threads and the time: one thread per request in
 * flight, one per listing of shards, and one that sends what has lingered.
 */
package object write
