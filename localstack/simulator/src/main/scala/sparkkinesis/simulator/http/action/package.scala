package sparkkinesis.simulator.http

/**
 * Maps the name of an operation to how its request is read and its response is written.
 *
 * No thread. May use `http.wire` and `http.response`.
 */
package object action
