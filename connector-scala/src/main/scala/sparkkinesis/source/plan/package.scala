package sparkkinesis.source

/**
 * Plans batches: which executor reads which shard ahead, where a batch ends, and which task reads
 * which part of it.
 *
 * Runs on the driver. Has no threads and no I/O; times are arguments. Only [[plan.ReadAhead]] and
 * [[plan.ExecutorTable]] have state.
 */
package object plan
