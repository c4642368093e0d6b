package sparkkinesis.spark

/**
 * The streams that a plan of Spark reads and writes, for OpenLineage's listener. On the driver, in
 * the thread of Spark's listeners. Calls no service.
 */
package object lineage
