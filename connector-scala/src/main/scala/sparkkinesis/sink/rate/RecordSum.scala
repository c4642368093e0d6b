package sparkkinesis.sink.rate

/** A number of Kinesis records and their bytes, including partition keys. */
private[sink] final case class RecordSum(records: Int, bytes: Long) {

  /** With one more record. */
  def +(size: Int): RecordSum = RecordSum(records + 1, bytes + size)
}

private[sink] object RecordSum {
  val Zero: RecordSum = RecordSum(0, 0)
}
