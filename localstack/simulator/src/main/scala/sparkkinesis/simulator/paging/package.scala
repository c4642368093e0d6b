package sparkkinesis.simulator

/**
 * Shard iterators and page tokens, and the filters that a page token contains.
 *
 * Has no threads, no input and no output; time is an argument.
 */
package object paging
