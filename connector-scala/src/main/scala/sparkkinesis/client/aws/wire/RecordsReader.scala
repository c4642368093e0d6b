package sparkkinesis.client.aws.wire

import java.nio.charset.StandardCharsets.UTF_8

import sparkkinesis.model.{PackedRecords, Record, SequenceNumber}

/**
 * Reads the members that a page and an event of a subscription share. The records refer to `body`.
 */
private[wire] abstract class RecordsReader(body: Array[Byte], in: ItemReader)
    extends MemberReader[ItemReader](body, in) {
  import RecordsReader._

  protected var records: PackedRecords = PackedRecords.Empty
  protected var millisBehind = Option.empty[Long]

  /** Reads a member that only one of them has. */
  protected def readOwnMember(): Unit

  protected def readChildren(): Unit

  override final protected def readMember(): Unit =
    if (isText(Records)) readRecords()
    else if (isText(Behind)) millisBehind = Some(in.number())
    else if (isText(Children)) readChildren()
    else readOwnMember()

  private def readRecords(): Unit = {
    val packed = new PackedRecords.Builder(body, body.length / RecordBytes + 1)
    var left = in.elements()
    while (in.hasMore(left)) {
      readRecord(packed)
      left -= 1
    }
    records = packed.result()
  }

  private def readRecord(packed: PackedRecords.Builder): Unit = {
    var arrival = 0L
    var encryption = Option.empty[String]
    var isNumbered = false
    var left = in.entries()
    while (in.hasMore(left)) {
      in.name()
      if (!in.skipNull()) {
        if (isText(Data)) {
          in.blob()
          packed.data(in.begin, in.end)
        } else if (isText(Number)) {
          readNumber(packed)
          isNumbered = true
        } else if (isText(Arrival)) arrival = in.millis()
        else if (isText(Key)) {
          in.checkedText()
          packed.key(in.begin, in.end)
        } else if (isText(Encryption)) encryption = readEncryptionType()
        else skipMember()
      }
      left -= 1
    }
    if (!isNumbered) throw ItemReader.Unsupported
    packed.add(arrival, encryption)
  }

  /** Checks that there are digits only, because later readers rely on it. */
  private def readNumber(packed: PackedRecords.Builder): Unit = {
    in.text()
    var at = in.begin
    while (at < in.end) {
      if (body(at) < '0' || body(at) > '9') throw ItemReader.Unsupported
      at += 1
    }
    val digits = in.end - in.begin
    if (digits == 0 || digits > SequenceNumber.MaxDigits) throw ItemReader.Unsupported
    packed.number(in.begin, in.end)
  }

  /** Returns a shared object for the two usual types. */
  private def readEncryptionType(): Option[String] = {
    in.text()
    if (isText(Plain)) Record.NotEncrypted
    else if (isText(Kms)) Record.EncryptedByKms
    else {
      in.checkText()
      Some(new String(body, in.begin, in.end - in.begin, UTF_8))
    }
  }
}

private object RecordsReader {
  private val Records = "Records".getBytes(UTF_8)
  private val Behind = "MillisBehindLatest".getBytes(UTF_8)
  private val Children = "ChildShards".getBytes(UTF_8)
  private val Number = "SequenceNumber".getBytes(UTF_8)
  private val Arrival = "ApproximateArrivalTimestamp".getBytes(UTF_8)
  private val Data = "Data".getBytes(UTF_8)
  private val Key = "PartitionKey".getBytes(UTF_8)
  private val Encryption = "EncryptionType".getBytes(UTF_8)
  private val Plain = "NONE".getBytes(UTF_8)
  private val Kms = "KMS".getBytes(UTF_8)

  /** Typical size of a record in a message, to estimate the number of records. */
  private val RecordBytes = 512
}
