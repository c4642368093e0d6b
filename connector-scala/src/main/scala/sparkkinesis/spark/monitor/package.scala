package sparkkinesis.spark

/**
 * Publishes what the progress of a query says about source and sink, and how late its sources are
 * now, as metrics of Spark. Runs on the driver, in the thread in which Spark calls listeners, in
 * that of the query, and in those that read the metrics.
 */
package object monitor
