package sparkkinesis.spark

/**
 * Failures as Spark shows them, on driver and executors: with a condition, a text and a remedy. Has
 * no threads.
 */
package object errors
