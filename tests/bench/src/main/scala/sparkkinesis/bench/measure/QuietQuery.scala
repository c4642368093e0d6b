package sparkkinesis.bench.measure

import scala.concurrent.duration._

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.streaming.StreamingQuery

import sparkkinesis.bench.raw.Waiting
import sparkkinesis.bench.server.LocalKinesis

/** A query of a stream to which nothing is written. */
object QuietQuery {

  /** Each shard needs a few calls until it is read the first time. */
  private def startLimit(shards: Int): FiniteDuration = 60.seconds + 20.millis * shards.toLong

  /**
   * Runs a query, which ends with `body`.
   *
   * @param operation the call of the service that each shard needs before it is read
   * @param settling time before `body`
   */
  def use[A](
      kinesis: LocalKinesis,
      rows: DataFrame,
      checkpoint: String,
      shards: Int,
      operation: String,
      settling: FiniteDuration
  )(body: StreamingQuery => A): A = {
    def calls = ServerStats.of(kinesis.endpoint).callsOf(operation)
    val begun = calls
    val query =
      rows.writeStream.format("noop").option("checkpointLocation", checkpoint).start()
    try {
      Waiting.until(s"reading of $shards shards", startLimit(shards), 100.millis) {
        query.exception.foreach(throw _)
        calls - begun >= shards
      }
      Waiting.sleep(settling)
      query.exception.foreach(throw _)
      body(query)
    } finally query.stop()
  }
}
