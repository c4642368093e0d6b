package sparkkinesis.simulator.http

/**
 * Maps the name of an operation to how its request is read and its response is written.
 *
 * Has no threads.
 */
package object action
