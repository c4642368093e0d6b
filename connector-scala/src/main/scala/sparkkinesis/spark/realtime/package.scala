package sparkkinesis.spark

/**
 * What the sink does differently in Spark's real-time mode: [[realtime.RealTimeMode]] notices the
 * mode on the driver, and [[realtime.RowWait]] belongs to a task. Has no threads. Calls no service.
 */
package object realtime
