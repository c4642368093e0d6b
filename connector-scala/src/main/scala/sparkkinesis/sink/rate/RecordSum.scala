package sparkkinesis.sink.rate

/** A number of Kinesis records and their bytes, including partition keys. */
private[sink] final case class RecordSum(records: Int, bytes: Long)

private[sink] object RecordSum {
  val Zero: RecordSum = RecordSum(0, 0)
}
