package sparkkinesis.client.aws.wire

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Arrays

import sparkkinesis.client.aws.AwsConversions.{Encrypted, NotEncrypted}
import sparkkinesis.client.{Page, ShardIterator}
import sparkkinesis.model.{PackedRecords, SequenceNumber}

/**
 * Reads a `GetRecords` answer where it lies, without an object a record: the SDK's own reading takes
 * half of all the time of reading a stream.
 */
private[aws] object GetRecordsCbor {

  /**
   * The page, which keeps `body`; `None` for whatever is not plain: the children of a shard that has
   * ended, data in base64 as another server sends it, an answer cut short. The SDK knows what to do.
   */
  def decode(body: Array[Byte]): Option[Page] = {
    val answer = new Answer(new CborCursor(body), body)
    try {
      answer.read()
      Some(answer.page)
    } catch {
      case CborCursor.Unusual | _: IndexOutOfBoundsException => None
    }
  }

  private val Records = "Records".getBytes(UTF_8)
  private val Next = "NextShardIterator".getBytes(UTF_8)
  private val Behind = "MillisBehindLatest".getBytes(UTF_8)
  private val Children = "ChildShards".getBytes(UTF_8)
  private val Number = "SequenceNumber".getBytes(UTF_8)
  private val Arrival = "ApproximateArrivalTimestamp".getBytes(UTF_8)
  private val Data = "Data".getBytes(UTF_8)
  private val Key = "PartitionKey".getBytes(UTF_8)
  private val Encryption = "EncryptionType".getBytes(UTF_8)
  private val Plain = "NONE".getBytes(UTF_8)
  private val Kms = "KMS".getBytes(UTF_8)

  /** Of a record in an answer, data and all: a first guess at how many there are. */
  private val RecordBytes = 512

  private final class Answer(in: CborCursor, body: Array[Byte]) {
    private var records = PackedRecords.Empty
    private var next = Option.empty[ShardIterator]
    private var millisBehind = 0L

    def page: Page = Page(records, next, millisBehind, Nil)

    def read(): Unit = {
      in.foreachEntry { () =>
        if (isName(Records)) readRecords()
        else if (isName(Next)) next = Some(ShardIterator(readText()))
        else if (isName(Behind)) millisBehind = in.number()
        else if (isName(Children)) throw CborCursor.Unusual
        else skipMember()
      }
      if (!in.isAtEnd) throw CborCursor.Unusual
    }

    private def readRecords(): Unit = {
      val packed = new PackedRecords.Builder(body, body.length / RecordBytes + 1)
      in.foreachElement(() => readRecord(packed))
      records = packed.result()
    }

    private def readRecord(packed: PackedRecords.Builder): Unit = {
      var arrival = 0L
      var encryption = Option.empty[String]
      var isNumbered = false
      in.foreachEntry { () =>
        if (isName(Data)) {
          in.blob()
          packed.data(in.begin, in.end)
        } else if (isName(Number)) {
          readNumber(packed)
          isNumbered = true
        } else if (isName(Arrival)) arrival = in.number()
        else if (isName(Key)) {
          in.checkedText()
          packed.key(in.begin, in.end)
        } else if (isName(Encryption)) encryption = readEncryptionType()
        else skipMember()
      }
      if (!isNumbered) throw CborCursor.Unusual
      packed.add(arrival, encryption)
    }

    private def skipMember(): Unit = {
      in.checkText() // its name
      in.skip()
    }

    /** Digits only: what reads them later takes them for granted. */
    private def readNumber(packed: PackedRecords.Builder): Unit = {
      in.text()
      var at = in.begin
      while (at < in.end) {
        if (body(at) < '0' || body(at) > '9') throw CborCursor.Unusual
        at += 1
      }
      val digits = in.end - in.begin
      if (digits == 0 || digits > SequenceNumber.MaxDigits) throw CborCursor.Unusual
      packed.number(in.begin, in.end)
    }

    /** As good as always one of the two: no text a record. */
    private def readEncryptionType(): Option[String] = {
      in.text()
      if (isName(Plain)) NotEncrypted
      else if (isName(Kms)) Encrypted
      else throw CborCursor.Unusual
    }

    private def isName(name: Array[Byte]): Boolean =
      Arrays.equals(body, in.begin, in.end, name, 0, name.length)

    private def readText(): String = {
      in.checkedText()
      new String(body, in.begin, in.end - in.begin, UTF_8)
    }
  }
}
