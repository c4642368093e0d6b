package sparkkinesis.simulator.http

/**
 * The two wire formats, JSON and CBOR, and typed access to the members of a request.
 *
 * No thread. May use `state` and `paging`.
 */
package object wire
