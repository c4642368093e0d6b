package sparkkinesis.sink

import scala.concurrent.duration._

import sparkkinesis.client.options.OptionTable
import sparkkinesis.client.options.OptionType._
import sparkkinesis.model.ServiceLimits

/** The options of the sink, besides those of the connection. */
private[sparkkinesis] object SinkTable extends OptionTable {
  private val LimitOfPutRecords = "This is the limit of PutRecords."

  /** Names a folder, and is a word in the tag of an aggregate. */
  private def writeId = matching(
    "[A-Za-z0-9][A-Za-z0-9._-]{0,127}",
    "1 to 128 of a-z, A-Z, 0-9, _ . -, and a letter or digit first",
    "It names a folder."
  )

  val DeliveryGuarantee =
    option("deliveryGuarantee", word("atLeastOnce", "exactlyOnce"), "atLeastOnce")(
      """What happens to a row if its batch runs again. `atLeastOnce`: the sink may write it a
        second time. `exactlyOnce`: the stream contains it [exactly
        once](../how-to/exactly-once.md). This requires `aggregation=kpl` and a column
        `partitionKey`."""
    )

  val WriteId =
    optional("writeId", writeId, needs = Seq("deliveryGuarantee=exactlyOnce", "deadLetterPath"))(
      """Name of a batch write, of 1 to 128 characters, by which the sink recognizes [a write that
      runs again](../how-to/exactly-once.md#batch-writes) and replaces its [dead
      letters](../how-to/dead-letters.md).""",
      unset = "No name."
    )

  val DeliveryTimeout = option("deliveryTimeout", duration(), 5.minutes)(
    """Maximum time that the sink [tries to write a
      record](../how-to/write.md#limit-how-long-the-sink-retries), counted from the first request
      that contains it."""
  )

  val RequestTimeout = option("requestTimeout", duration(1.second, 30.seconds), 10.seconds)(
    """Maximum time that the sink waits for the response to a `PutRecords` request before it
      sends the records again."""
  )

  val MaxInFlightRequests = option(
    "maxInFlightRequests",
    number(most = 256).because("Use more tasks to send more requests at a time."),
    16
  )(
    """Maximum number of requests per task that wait for a response."""
  )

  val MaxRequestRecords = option(
    "maxRequestRecords",
    number(ServiceLimits.PutRecordsCount).because(LimitOfPutRecords),
    ServiceLimits.PutRecordsCount
  )(
    """Maximum number of Kinesis records per `PutRecords` request."""
  )

  val MaxRequestBytes = option(
    "maxRequestBytes",
    size(most = ServiceLimits.PutRecordsBytes).because(LimitOfPutRecords),
    5L << 20
  )(
    """Maximum size of a `PutRecords` request: the data and the partition keys of its records."""
  )

  val MaxBufferedBytes = option("maxBufferedBytes", size(), 64L << 20)(
    """Maximum memory per task for rows that Kinesis has not acknowledged, counted as their data,
      their keys and 128 bytes per row."""
  )

  val Linger = option("linger", duration(most = 1.minute), 100.millis)(
    """Maximum time that a record waits for others of the same request, by default `5ms` in
      [real-time mode](../how-to/real-time.md)."""
  )

  val Aggregation = option("aggregation", word("none", "kpl"), "none")(
    """How rows become Kinesis records. `none`: each row becomes one record. `kpl`: the sink [packs
      many rows into one](../how-to/write.md#pack-small-rows-into-larger-records), in the format of
      the Kinesis Producer Library (KPL)."""
  )

  val MaxAggregateBytes = option(
    "maxAggregateBytes",
    size(AggregateLimits.LeastBytes, AggregateLimits.MostBytes),
    AggregateLimits().bytes.toLong,
    needs = Seq("aggregation=kpl")
  )(
    """Maximum size of an aggregated record."""
  )

  val MaxAggregateRecords = option(
    "maxAggregateRecords",
    number(),
    AggregateLimits().records,
    needs = Seq("aggregation=kpl")
  )(
    """Maximum number of rows per aggregated record."""
  )

  val Ordering = option("ordering", word("none", "perKey"), "none")(
    """Whether the sink writes the rows of each partition key [in order](../how-to/order.md)."""
  )

  val OrderBy = optional("orderBy", text, needs = Seq("ordering=perKey"))(
    """Column by which the sink sorts the rows of each partition key, and which it does not write
      to Kinesis.""",
    unset = "The order of the rows in their partition."
  )

  val DeadLetterPath = optional("deadLetterPath", text)(
    """Folder for [rows that the sink could not write](../how-to/dead-letters.md), as JSON.""",
    unset = "Invalid rows fail the task."
  )

  val OnDeliveryTimeout = option("onDeliveryTimeout", word("fail", "deadLetter"), "fail")(
    """What happens if a shard does not accept a record within `deliveryTimeout`. `fail`: the task
      fails. `deadLetter`: the record [goes to
      `deadLetterPath`](../how-to/dead-letters.md#rows-that-time-out)."""
  )
}
