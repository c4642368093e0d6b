package sparkkinesis.sink.lane

import sparkkinesis.sink.SinkOptions

/**
 * The largest size of one `PutRecords` request.
 *
 * @param bytes of data and partition keys together
 */
final case class RequestLimits(records: Int, bytes: Long)

object RequestLimits {
  def of(options: SinkOptions): RequestLimits =
    RequestLimits(options.maxRequestRecords, options.maxRequestBytes)
}
