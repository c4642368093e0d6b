package sparkkinesis.source

/**
 * Reads known ranges of shards from Kinesis: those of a micro-batch whose pages are not buffered,
 * and those of a batch query.
 *
 * [[replay.BatchReadPlanner]] plans a batch query on the driver; the readers run in tasks on the
 * executors. Has no threads.
 */
package object replay
