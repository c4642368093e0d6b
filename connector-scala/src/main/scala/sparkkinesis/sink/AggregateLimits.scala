package sparkkinesis.sink

import sparkkinesis.model.ServiceLimits

/**
 * The largest size of an aggregated record.
 *
 * @param bytes of the Kinesis record, including its partition key
 * @param records user records per aggregated record
 */
private[sparkkinesis] final case class AggregateLimits(bytes: Int = 50 * 1024, records: Int = 10000)

private[sparkkinesis] object AggregateLimits {

  /** The smallest limit. In a smaller aggregate the encoding takes more space than the records. */
  val LeastBytes = 1024

  /** Every stream accepts this size. It is also the KPL's own limit. */
  val MostBytes: Int = ServiceLimits.RecordBytes
}
