package sparkkinesis.spark

/**
 * Payloads of records, where Spark has no function for them: decompresses, splits JSON, and checks
 * Avro. Runs on executors and has no threads. Nothing here throws because of the data: each method
 * returns a value, or the reason why there is none.
 */
package object payload {

  /** A fixed word and, for some, a colon and details. */
  private[sparkkinesis] type Reason = String
}
