package sparkkinesis.spark

/**
 * Failures as Spark shows them, on driver and executors: with a condition, a text and a remedy. Has
 * no threads. Uses the exceptions of `client`, `source` and `sink`.
 */
package object errors
