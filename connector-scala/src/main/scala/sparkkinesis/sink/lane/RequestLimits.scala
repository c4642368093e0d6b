package sparkkinesis.sink.lane

import sparkkinesis.sink.SinkOptions

/**
 * The largest size of one `PutRecords` request.
 *
 * @param bytes of data and partition keys together
 */
final case class RequestLimits(records: Int, bytes: Long) {

  /** The size of the request, as a fraction of the largest one. */
  private[sink] def partOf(request: Request): Double =
    math.max(request.records.length.toDouble / records, request.bytes.toDouble / bytes)
}

object RequestLimits {
  def of(options: SinkOptions): RequestLimits =
    RequestLimits(options.maxRequestRecords, options.maxRequestBytes)
}
