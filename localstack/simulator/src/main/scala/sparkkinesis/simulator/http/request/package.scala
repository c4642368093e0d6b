package sparkkinesis.simulator.http

/**
 * Writes operations as requests and reads them, for the journal.
 *
 * Has no threads.
 */
package object request
