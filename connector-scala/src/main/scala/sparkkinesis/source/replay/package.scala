package sparkkinesis.source

/**
 * Known ranges of shards: [[replay.BatchReadPlanner]] and [[replay.ReplayPlan]] plan them on the
 * driver for a batch read and for a replay. [[replay.TaskPages]] reads those of a task on an
 * executor, also of a micro-batch. Has no threads.
 */
package object replay
