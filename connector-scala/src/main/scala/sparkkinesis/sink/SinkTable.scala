package sparkkinesis.sink

import scala.concurrent.duration._

import sparkkinesis.client.options.OptionTable
import sparkkinesis.client.options.OptionType._
import sparkkinesis.model.ServiceLimits

/** The options of the sink, besides those of the connection. */
object SinkTable extends OptionTable {
  private val LimitOfPutRecords = "This is the limit of PutRecords."

  /** Names a folder, and is a word in the tag of an aggregate. */
  private def writeId = matching(
    "[A-Za-z0-9][A-Za-z0-9._-]{0,127}",
    "1 to 128 of a-z, A-Z, 0-9, _ . -, and a letter or digit first",
    "It names a folder."
  )

  val DeliveryGuarantee =
    option("deliveryGuarantee", word("atLeastOnce", "exactlyOnce"), "atLeastOnce")(
      """With `exactlyOnce`, a streaming query or a batch write does not write a row again if an
      earlier attempt of the same batch has written it. Requires `aggregation=kpl`, a column
      `partitionKey`, the option `checkpointLocation` on the write, and `writeId` for a batch
      write. See [Write exactly once](../how-to/write.md#write-exactly-once)."""
    )

  val WriteId =
    optional("writeId", writeId, needs = Seq("deliveryGuarantee=exactlyOnce", "deadLetterPath"))(
      """Name of a batch write, of 1 to 128 characters. A job that runs again uses the same name,
      and each other write another one. Required with `deliveryGuarantee=exactlyOnce`: see [Batch
      writes](../how-to/write.md#batch-writes). With `deadLetterPath`, it is also the name of the
      folder of [dead letters](columns.md#dead-letters), so a job that runs again replaces its
      earlier files.""",
      unset = "No name."
    )

  val DeliveryTimeout = option("deliveryTimeout", duration(), 5.minutes)(
    """Maximum time that the sink tries to write a record, measured from the first request that
      contains the record. After that time, the task fails with
      [`KINESIS_DELIVERY_TIMEOUT`](errors.md#kinesis_delivery_timeout), even if a request is
      waiting for its response. The sink also tries for this time to describe a stream and to
      list its shards. With `deliveryGuarantee=exactlyOnce`, the value must be at least `3m`, and
      the time in which the driver reads the stream for a request without a response does not
      count."""
  )

  val RequestTimeout = option("requestTimeout", duration(1.second, 30.seconds), 10.seconds)(
    """Maximum time that the sink waits for the response to a `PutRecords` request. After that
      time, the sink sends the records again. The stream may then contain them twice. The
      executor also reduces its request size for that stream to a quarter, at least one sixteenth
      of `maxRequestRecords` and `maxRequestBytes`. After 100 responses in a row to large requests
      that took at most a quarter of `requestTimeout` each, it doubles the size again."""
  )

  val MaxInFlightRequests = option(
    "maxInFlightRequests",
    number(most = 256).because("Use more tasks to send more requests at a time."),
    16
  )(
    """Maximum number of requests per task that wait for a response from Kinesis. If responses
      take more than a second or are missing, all tasks of an executor together send fewer
      requests at a time."""
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
    """Maximum size of a `PutRecords` request: the data and the partition keys of its records.
      Some servers that are compatible with Kinesis accept only `5m`, the earlier limit. A record
      that is larger than this option has a request of its own. If a server refuses a request as
      too large (HTTP 413), the sink makes its requests to that stream half as large, in records
      and bytes. After 100 responses in a row to large requests that took at most a quarter of
      `requestTimeout` each, it doubles the size again. To avoid the refused requests, set this
      option to the limit of the server."""
  )

  val MaxBufferedBytes = option("maxBufferedBytes", size(), 64L << 20)(
    """Maximum memory per task for rows that Kinesis has not acknowledged. The limit counts the
      data, the keys and 128 bytes per row. Requests in flight contain copies of rows, which need
      additional memory."""
  )

  val Linger = option("linger", duration(most = 1.minute), 100.millis)(
    """Maximum time that the sink holds a record back, so that one request can contain several
      records. In [real-time mode](../how-to/real-time.md), the default is `5ms`."""
  )

  val Aggregation = option("aggregation", word("none", "kpl"), "none")(
    """With `none`, each row becomes one Kinesis record. With `kpl`, the sink packs many rows
      into one Kinesis record, in the format of the Kinesis Producer Library (KPL). The source of
      this connector and the Kinesis Client Library (KCL) unpack these records. A consumer that
      cannot unpack them receives all rows of a record as one binary value."""
  )

  val MaxAggregateBytes = option(
    "maxAggregateBytes",
    size(AggregateLimits.LeastBytes, AggregateLimits.MostBytes),
    AggregateLimits().bytes.toLong,
    needs = Seq("aggregation=kpl")
  )(
    """Maximum size of an aggregated record. Requires `aggregation=kpl`."""
  )

  val MaxAggregateRecords = option(
    "maxAggregateRecords",
    number(),
    AggregateLimits().records,
    needs = Seq("aggregation=kpl")
  )(
    """Maximum number of rows per aggregated record. Requires `aggregation=kpl`."""
  )

  val Ordering = option("ordering", word("none", "perKey"), "none")(
    """With `none`, the sink promises no order. With `perKey`, the sink writes the rows of each
      partition key in the order that `orderBy` defines. See [Keep records in
      order](../how-to/order.md). In [real-time mode](../how-to/real-time.md) it requires a query
      that reads from Kinesis."""
  )

  val OrderBy = optional("orderBy", text, needs = Seq("ordering=perKey"))(
    """Name of the column by which the sink sorts the rows of each partition key. The sink does
      not write this column to Kinesis. Requires `ordering=perKey`.""",
    unset = "The order of the rows in their partition."
  )

  val DeadLetterPath = optional("deadLetterPath", text)(
    """Folder where the sink writes invalid rows and, with `onDeliveryTimeout=deadLetter`, rows
      that timed out, as JSON. See [Dead letters](columns.md#dead-letters).""",
    unset = "Invalid rows fail the task."
  )

  val OnDeliveryTimeout = option("onDeliveryTimeout", word("fail", "deadLetter"), "fail")(
    """Action if a shard does not accept a record within `deliveryTimeout`. With `fail`, the task
      fails. With `deadLetter`, the sink writes the rows to `deadLetterPath` and continues.
      Requires `deadLetterPath`. You cannot combine `deadLetter` with `ordering=perKey` or
      `deliveryGuarantee=exactlyOnce`. See [Limit how long the sink
      retries](../how-to/write.md#limit-how-long-the-sink-retries)."""
  )
}
