package sparkkinesis.simulator.http

/**
 * The two wire formats, JSON and CBOR, and typed access to the members of a request.
 *
 * Has no threads.
 */
package object wire
