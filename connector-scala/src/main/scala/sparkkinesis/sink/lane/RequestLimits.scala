package sparkkinesis.sink.lane

import sparkkinesis.model.ServiceLimits

/**
 * The largest size of one `PutRecords` request.
 *
 * @param bytes of data and partition keys together
 */
final case class RequestLimits(records: Int, bytes: Long)

object RequestLimits {

  /** The limits of the service. */
  val Default: RequestLimits =
    RequestLimits(ServiceLimits.PutRecordsCount, ServiceLimits.PutRecordsBytes.toLong)
}
