package sparkkinesis.simulator

/**
 * The operations of the service on streams, shards, records, settings, tags and consumers. Each is
 * a function from a state to a result and the next state.
 *
 * No thread, no input or output; time is an argument. May use `state`, `paging` and `record`.
 */
package object operation
