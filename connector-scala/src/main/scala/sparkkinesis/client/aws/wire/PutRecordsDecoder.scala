package sparkkinesis.client.aws.wire

import java.nio.charset.StandardCharsets.{ISO_8859_1, UTF_8}
import java.util.Arrays

import scala.collection.immutable.ArraySeq

import sparkkinesis.client.PutResult
import sparkkinesis.model.{SequenceNumber, ShardId}

/** Decodes a `PutRecords` response in one pass, with one object per record and per shard. */
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
      val all = Array.newBuilder[PutResult]
      var left = in.elements()
      while (in.hasMore(left)) {
        all += readRecord()
        left -= 1
      }
      ArraySeq.unsafeWrapArray(all.result())
    }

    private def readRecord(): PutResult = {
      var shard = Option.empty[ShardId]
      var number = Option.empty[SequenceNumber]
      var code = Option.empty[String]
      var message = Option.empty[String]
      var left = in.entries()
      while (in.hasMore(left)) {
        in.name()
        if (isText(Number)) number = Some(readNumber())
        else if (isText(Shard)) shard = Some(readShard())
        else if (isText(Code)) code = Some(readText())
        else if (isText(Message)) message = Some(readText())
        else skipMember()
        left -= 1
      }
      (code, shard, number) match {
        case (None, Some(written), Some(at)) => PutResult.Written(written, at)
        case (Some(why), None, None) => PutResult.Failed(why, message.getOrElse("no message"))
        case _ => throw ItemReader.Unsupported
      }
    }

    /** Usually the same object for the same shard, from a small cache. */
    private def readShard(): ShardId = {
      in.checkedText()
      val last = in.end - 1 // usually the last digits of the shard's number
      val place = (body(last) + 10 * body(last - 1) + 100 * body(last - 2)) & (Places - 1)
      Option(shards(place)).filter(it => isText(it.bytes)).map(_.id).getOrElse {
        val named = new NamedShard(Arrays.copyOfRange(body, in.begin, in.end))
        shards(place) = named
        named.id
      }
    }

    private def readNumber(): SequenceNumber = {
      in.text()
      val text = new String(body, in.begin, in.end - in.begin, ISO_8859_1)
      SequenceNumber.parse(text).getOrElse(throw ItemReader.Unsupported)
    }
  }

  private final class NamedShard(val bytes: Array[Byte]) {
    val id: ShardId = ShardId(new String(bytes, UTF_8))
  }
}
