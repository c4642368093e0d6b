package sparkkinesis.simulator

/**
 * The operations that describe and list streams and shards.
 *
 * No thread, no input or output; time is an argument. May use `operation` and what it uses.
 */
package object listing
