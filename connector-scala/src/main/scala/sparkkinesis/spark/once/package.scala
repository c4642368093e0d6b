package sparkkinesis.spark

/**
 * Exactly once with Spark: the log of attempts beside the checkpoint, the driver's end of a write
 * with two threads (one checks that the attempt is the newest, one reads the stream), and the
 * task's end with one thread, which renews its right to send.
 */
package object once
