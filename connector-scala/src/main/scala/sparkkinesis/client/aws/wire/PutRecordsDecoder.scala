package sparkkinesis.client.aws.wire

import java.nio.charset.StandardCharsets.{ISO_8859_1, UTF_8}
import java.util.Arrays

import sparkkinesis.client.PutResult
import sparkkinesis.model.{SequenceNumber, ShardId}

/**
 * Decodes a `PutRecords` response in one pass, with one object per shard and per record that
 * failed.
 */
private[aws] object PutRecordsDecoder {

  /** `None` if the SDK must decode the response. */
  def decode(body: Array[Byte]): Option[Seq[PutResult]] = {
    val response = new Response(body)
    if (response.read()) response.results else None
  }

  private val Records = "Records".getBytes(UTF_8)
  private val Count = "FailedRecordCount".getBytes(UTF_8)
  private val Encryption = "EncryptionType".getBytes(UTF_8)
  private val Shard = "ShardId".getBytes(UTF_8)
  private val Number = "SequenceNumber".getBytes(UTF_8)
  private val Code = "ErrorCode".getBytes(UTF_8)
  private val Message = "ErrorMessage".getBytes(UTF_8)

  /** A count that no request reaches. */
  private val MostFailed = 1000000L

  /** Size of the cache of shard IDs; a power of two. */
  private val Places = 64

  private final class Response(body: Array[Byte]) extends MemberReader(body, new CborReader(body)) {
    private val shards = new Array[NamedShard](Places)
    private var records = Option.empty[Seq[PutResult]]

    /** `None` if the response has no list of records. */
    def results: Option[Seq[PutResult]] = records

    override protected def readMember(): Unit =
      if (isText(Records)) records = Some(readRecords())
      else if (isText(Count)) in.checkCount(MostFailed)
      else if (isText(Encryption)) in.checkedText()
      else skipMember()

    private def readRecords(): Seq[PutResult] = {
      val all = new Records(body)
      var left = in.elements()
      while (in.hasMore(left)) {
        readRecord(all)
        left -= 1
      }
      all.results
    }

    private def readRecord(all: Records): Unit = {
      var shard = Option.empty[ShardId]
      var code = Option.empty[String]
      var message = Option.empty[String]
      var (begin, end) = (0, 0) // of the sequence number, which is not empty
      var left = in.entries()
      while (in.hasMore(left)) {
        in.name()
        if (isText(Number)) {
          readDigits()
          begin = in.begin
          end = in.end
        } else if (isText(Shard)) shard = readShard()
        else if (isText(Code)) code = Some(readText())
        else if (isText(Message)) message = Some(readText())
        else skipMember()
        left -= 1
      }
      if (code.isEmpty && shard.nonEmpty && end > 0) all.written(shard.get, begin, end)
      else if (code.nonEmpty && shard.isEmpty && end == 0)
        all.failed(PutResult.Failed(code.get, message.getOrElse("no message")))
      else throw ItemReader.Unsupported
    }

    /** Usually the same object for the same shard, from a small cache. */
    private def readShard(): Some[ShardId] = {
      in.checkedText()
      val last = in.end - 1 // usually the last digits of the shard's number
      val place = (body(last) + 10 * body(last - 1) + 100 * body(last - 2)) & (Places - 1)
      Option(shards(place))
        .filter(it => isText(it.bytes))
        .fold {
          val named = new NamedShard(Arrays.copyOfRange(body, in.begin, in.end))
          shards(place) = named
          named.id
        }(_.id)
    }
  }

  private final class NamedShard(val bytes: Array[Byte]) {
    val id: Some[ShardId] = Some(ShardId(new String(bytes, UTF_8)))
  }

  /** Collects the results of the records: the shard and the place of the number, or a failure. */
  private final class Records(body: Array[Byte]) {
    private var shards = new Array[ShardId](FirstSize)
    private var places = new Array[Int](2 * FirstSize)
    private var failures = Map.empty[Int, PutResult.Failed]
    private var count = 0

    def written(shard: ShardId, begin: Int, end: Int): Unit = {
      grow()
      shards(count) = shard
      places(2 * count) = begin
      places(2 * count + 1) = end
      count += 1
    }

    def failed(failure: PutResult.Failed): Unit = {
      grow()
      failures += count -> failure
      count += 1
    }

    private def grow(): Unit = if (count == shards.length) {
      shards = Arrays.copyOf(shards, 2 * count)
      places = Arrays.copyOf(places, 4 * count)
    }

    def results: Seq[PutResult] = {
      val written = new Written(body, shards, places, count)
      if (failures.isEmpty) written
      else Vector.tabulate(count)(i => failures.getOrElse(i, written(i)))
    }
  }

  private final class Written(
      body: Array[Byte],
      shards: Array[ShardId],
      places: Array[Int],
      override val length: Int
  ) extends PutResult.AllWritten {
    override def apply(i: Int): PutResult = {
      val (begin, end) = (places(2 * i), places(2 * i + 1))
      val number = new String(body, begin, end - begin, ISO_8859_1)
      PutResult.Written(shards(i), SequenceNumber(number))
    }

    override def areIn(shard: ShardId, from: Int, until: Int): Boolean = {
      var i = from
      while (i < until && shards(i) == shard) i += 1
      i == until
    }
  }

  /** Size of the first arrays: that of a full request. */
  private val FirstSize = 500
}
