package sparkkinesis.simulator

/**
 * The operations that describe and list streams and shards.
 *
 * Has no threads, no input and no output; time is an argument.
 */
package object listing
