package sparkkinesis.simulator

/**
 * The service over HTTP/1.1 and HTTP/2: connections, protocols, and which part answers a request.
 *
 * Runs on Netty's threads. May use the other `http` folders and `service`.
 */
package object http
