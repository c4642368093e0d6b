package sparkkinesis.spark

/**
 * The sink, as Spark calls it. On the driver, [[write.KinesisWriteBuilder]] checks options and
 * columns and [[write.KinesisWrite]] describes the stream of the options. On an executor, one
 * [[write.KinesisDataWriter]] per task converts rows to records and gives them to the `sink` layer.
 * The threads are Spark's and those of `sink`.
 */
package object write
