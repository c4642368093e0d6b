package sparkkinesis.simulator.http

/**
 * The responses on the wire, and the event stream of a subscription.
 *
 * [[SubscriptionPush]] runs on the event loop of its connection.
 */
package object response
