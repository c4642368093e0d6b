package sparkkinesis.simulator

/**
 * Shard iterators and page tokens, and the filters that a page token contains.
 *
 * No thread, no input or output; time is an argument. May use `state`.
 */
package object paging
