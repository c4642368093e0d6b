package sparkkinesis.client.aws.wire

import java.nio.charset.StandardCharsets.UTF_8

import sparkkinesis.model._

/**
 * Reads the members that a page and an event of a subscription share. The records refer to `body`.
 */
private[wire] abstract class RecordsReader(body: Array[Byte], in: ItemReader)
    extends MemberReader[ItemReader](body, in) {
  import RecordsReader._

  private var packed = new PackedRecords.Builder(body, 0)
  protected var millisBehind = Option.empty[Long]
  protected var children = Vector.empty[ChildShard]

  protected def records: PackedRecords = packed.result()

  /** @param end of the data of a record, from their begin and end in the message */
  protected def mapData(end: (Int, Int) => Int): Unit = packed.mapData(end)

  /** Reads a member that only one of them has. */
  protected def readOwnMember(): Unit

  override final protected def readMember(): Unit =
    if (isText(Records)) readRecords()
    else if (isText(Behind)) millisBehind = Some(in.number())
    else if (isText(Children)) children = readAll(readChild())
    else readOwnMember()

  private def readRecords(): Unit = {
    packed = new PackedRecords.Builder(body, body.length / RecordBytes + 1)
    var left = in.elements()
    while (in.hasMore(left)) {
      readRecord()
      left -= 1
    }
  }

  private def readRecord(): Unit = {
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
          readDigits()
          packed.number(in.begin, in.end)
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

  private def readAll[A](readOne: => A): Vector[A] = {
    val all = Vector.newBuilder[A]
    var left = in.elements()
    while (in.hasMore(left)) {
      all += readOne
      left -= 1
    }
    all.result()
  }

  private def readChild(): ChildShard = {
    var id = Option.empty[ShardId]
    var parents = Vector.empty[ShardId]
    var hashKeys = Option.empty[HashKeyRange]
    readMembers {
      if (isText(Id)) id = Some(ShardId(readText()))
      else if (isText(Parents)) parents = readAll(ShardId(readText()))
      else if (isText(HashKeys)) hashKeys = Some(readHashKeys())
      else skipMember()
    }
    ChildShard(needed(id), parents, needed(hashKeys))
  }

  private def readHashKeys(): HashKeyRange = {
    var first = Option.empty[HashKey]
    var last = Option.empty[HashKey]
    readMembers {
      if (isText(First)) first = Some(parsed(HashKey.parse))
      else if (isText(Last)) last = Some(parsed(HashKey.parse))
      else skipMember()
    }
    if (needed(first) > needed(last)) throw ItemReader.Unsupported
    HashKeyRange(needed(first), needed(last))
  }

  protected final def parsed[A](parse: String => Option[A]): A = needed(parse(readText()))

  private def needed[A](found: Option[A]): A = found.getOrElse(throw ItemReader.Unsupported)

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
  private val Id = "ShardId".getBytes(UTF_8)
  private val Parents = "ParentShards".getBytes(UTF_8)
  private val HashKeys = "HashKeyRange".getBytes(UTF_8)
  private val First = "StartingHashKey".getBytes(UTF_8)
  private val Last = "EndingHashKey".getBytes(UTF_8)
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
