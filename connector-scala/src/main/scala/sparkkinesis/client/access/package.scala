package sparkkinesis.client

/**
 * How a client reaches AWS, apart from the stream: proxy, certificates, kinds of endpoints,
 * timeouts, and what a user's class must implement to give the connector credentials. Runs on
 * driver and executors, in the threads of its callers.
 */
package object access
