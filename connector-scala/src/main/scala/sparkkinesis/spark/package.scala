package sparkkinesis

/**
 * The data source, as Spark's Data Source V2 interface calls it on the driver: the two format
 * names, tables and a function in SQL. The folders below read, write, keep bad rows and count. Has
 * no threads. Only this layer uses Spark.
 */
package object spark
