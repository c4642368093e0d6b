package sparkkinesis.simulator

/**
 * All streams, shards and consumers as values, and the rules for names and limits that all
 * operations share. An operation returns the next [[State]].
 *
 * No thread, no input or output; time is an argument. May use `record`.
 */
package object state
