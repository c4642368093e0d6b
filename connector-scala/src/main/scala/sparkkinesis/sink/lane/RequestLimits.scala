package sparkkinesis.sink.lane

import sparkkinesis.model.ServiceLimits

/**
 * What one `PutRecords` request may hold.
 *
 * @param bytes of data and partition keys together
 */
final case class RequestLimits(records: Int, bytes: Long)

object RequestLimits {

  /** The service's own. */
  val Default: RequestLimits =
    RequestLimits(ServiceLimits.PutRecordsCount, ServiceLimits.PutRecordsBytes.toLong)
}
