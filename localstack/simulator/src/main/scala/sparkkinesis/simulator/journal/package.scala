package sparkkinesis.simulator

/**
 * Stores the changes of a service in a file, so that streams survive a restart.
 *
 * Writes on the thread of the call that makes the change. May use `service` and `http.request`,
 * whose request format it uses.
 */
package object journal
