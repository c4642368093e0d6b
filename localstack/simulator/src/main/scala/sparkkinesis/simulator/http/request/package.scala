package sparkkinesis.simulator.http

/**
 * Writes and reads operations as requests on the wire, for the journal.
 *
 * No thread. May use `http.action` and `http.wire`.
 */
package object request
