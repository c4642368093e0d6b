package sparkkinesis.sink

/**
 * Exactly once: the identity that records carry, the right of a task to send, and the read-back of
 * what earlier tasks have written. `DriverLoop` and `TaskLoop` decide, on the driver and in a task.
 * They have no threads. Only a read-back has some, in `ShardReaders`.
 */
package object once
