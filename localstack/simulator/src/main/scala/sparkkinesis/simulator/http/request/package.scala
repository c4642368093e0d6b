package sparkkinesis.simulator.http

/**
 * Writes operations as requests and reads them, for the journal.
 *
 * No thread. May use `http.action` and `http.wire`.
 */
package object request
