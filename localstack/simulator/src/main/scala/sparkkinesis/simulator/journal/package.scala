package sparkkinesis.simulator

/**
 * Keeps the changes of a service in a file, so that streams survive a restart.
 *
 * Writes on the thread of the call that changes something. May use `service` and `http.request`, whose
 * format of requests it keeps.
 */
package object journal
