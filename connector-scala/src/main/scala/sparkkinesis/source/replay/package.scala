package sparkkinesis.source

/**
 * Known ranges of shards: [[replay.BatchReadPlanner]] and [[replay.ReplayPlan]] plan them on the
 * driver for a batch read and for a replay, and [[replay.TaskPages]] reads those of a task on an
 * executor. Has no threads.
 */
package object replay
