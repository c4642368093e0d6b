package sparkkinesis.simulator

/**
 * The tokens that the service hands out: shard iterators and page tokens, and the filters that a page
 * token remembers.
 *
 * No thread, no input or output; time is an argument. May use `state`.
 */
package object paging
