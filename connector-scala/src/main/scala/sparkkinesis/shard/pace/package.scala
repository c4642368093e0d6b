package sparkkinesis.shard

/**
 * How fast the service may be asked. A [[pace.ReadPace]] models the read quota of a shard. All
 * readers of a stream on one executor have one [[pace.SharedReads]].
 *
 * Runs on both sides, in the threads of the readers. Time is passed in.
 */
package object pace
