package sparkkinesis.client.aws

/**
 * The HTTP settings of all AWS clients: timeouts, connections, proxy, certificates, and the abort
 * of requests whose thread was interrupted. Runs on driver and executors, in the threads of its
 * callers. Each client has one daemon thread, which looks for interruptions.
 */
package object http
