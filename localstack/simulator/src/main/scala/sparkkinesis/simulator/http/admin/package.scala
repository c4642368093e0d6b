package sparkkinesis.simulator.http

/**
 * The endpoints under `/_simulator/`: clock, faults, statistics.
 *
 * Runs on Netty's threads.
 */
package object admin
