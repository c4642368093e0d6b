package sparkkinesis.sink.rate

/** A number of Kinesis records and their bytes, including partition keys. */
private[sink] final case class RecordSum(records: Long, bytes: Long) {

  /** With one more record. */
  def +(size: Int): RecordSum = RecordSum(records + 1, bytes + size)

  def +(other: RecordSum): RecordSum = RecordSum(records + other.records, bytes + other.bytes)
}

private[sink] object RecordSum {
  val Zero: RecordSum = RecordSum(0, 0)
}
