package sparkkinesis.spark

/**
 * The numbers that Spark shows of a query: metrics of tasks on the SQL page of its UI, and the
 * progress of source and sink. One table per side lists them ([[metrics.ReadMetrics]],
 * [[metrics.WriteMetrics]]). The driver adds up what executors report; nothing here has a thread or
 * calls the service.
 */
package object metrics
