package sparkkinesis.simulator

/**
 * The operations of the service on streams, shards, records, settings, tags and consumers. Each is
 * a function from a state to a result and the next state.
 *
 * Has no threads, no input and no output; time is an argument.
 */
package object operation
