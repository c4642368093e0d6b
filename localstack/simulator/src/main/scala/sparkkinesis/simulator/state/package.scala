package sparkkinesis.simulator

/**
 * All streams, shards and consumers as values, and the rules for names and limits that all
 * operations share. An operation returns the next [[State]].
 *
 * Has no threads, no input and no output; time is an argument.
 */
package object state
