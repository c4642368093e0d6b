package sparkkinesis.sink.lane

import sparkkinesis.model.ServiceLimits

/**
 * How large an aggregate becomes at most.
 *
 * @param bytes of the Kinesis record, its partition key included
 * @param records in it
 */
final case class AggregateLimits(bytes: Int = 50 * 1024, records: Int = 10000)

object AggregateLimits {

  /** Below it the aggregate's own frame is most of it. */
  val LeastBytes = 1024

  /** Every stream takes it, so no stream need be asked; the KPL's own limit too. */
  val MostBytes: Int = ServiceLimits.RecordBytes
}
