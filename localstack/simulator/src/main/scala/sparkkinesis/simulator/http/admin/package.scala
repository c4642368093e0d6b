package sparkkinesis.simulator.http

/**
 * The endpoints under `/_simulator/`: clock, faults, statistics.
 *
 * Runs on Netty's threads. May use `http.action`, `http.wire` and `service`.
 */
package object admin
