package sparkkinesis.simulator

/**
 * Enhanced fan-out: subscriptions to shards, and which event each sends next.
 *
 * [[ShardWatchers]] wakes waiting subscriptions and is safe for use by several threads; the rest
 * are values.
 */
package object fanout
