package sparkkinesis.spark

/**
 * Publishes what the progress of a query says about source and sink, as metrics of Spark. Runs on
 * the driver, in the thread in which Spark calls listeners.
 */
package object monitor
