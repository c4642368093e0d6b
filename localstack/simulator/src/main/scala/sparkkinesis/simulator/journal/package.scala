package sparkkinesis.simulator

/**
 * Stores the changes of a service in a file, so that streams survive a restart.
 *
 * Writes on the thread of the call that makes the change.
 */
package object journal
