package sparkkinesis.simulator

/**
 * The limits of the service: token buckets per shard, per operation and per account.
 *
 * [[QuotaMeters]] is used under the lock of the service; time is an argument.
 */
package object quota
