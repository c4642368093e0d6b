package sparkkinesis.sink

/**
 * The numbers that a writer counts, as mutable counters in the task and as values that can be added
 * up. Counters belong to an executor's task and are guarded by the writer's lock; values travel to
 * the driver.
 */
package object metrics
