package sparkkinesis.spark

/**
 * Planned stops of a streaming query between two of its micro-batches. The source and the sink have
 * a gate in the query's thread, which is closed while somebody wants the query to stop. Has no
 * threads. Calls no service.
 */
package object stop
