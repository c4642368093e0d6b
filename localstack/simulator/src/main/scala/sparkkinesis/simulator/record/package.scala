package sparkkinesis.simulator

/**
 * The records of one shard, packed into arrays of bytes, and their sequence numbers.
 *
 * Values and cursors: no clock, no thread, no input or output.
 */
package object record
