package sparkkinesis.simulator

/**
 * The service over HTTP/1.1 and HTTP/2: connections, protocols, and the choice of the part that
 * handles a request.
 *
 * Runs on Netty's threads.
 */
package object http
