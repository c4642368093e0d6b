package sparkkinesis.sink

/**
 * Exactly once: the identity that records carry, the right of a task to send, and the read-back of
 * what earlier tasks have written. `WriteSession` and `ReadBack` run on the driver, the rest on
 * both sides. Only a read-back has threads, in `ShardReaders`.
 */
package object once
