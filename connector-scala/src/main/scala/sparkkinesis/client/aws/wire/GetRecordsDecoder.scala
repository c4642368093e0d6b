package sparkkinesis.client.aws.wire

import java.nio.charset.StandardCharsets.UTF_8

import sparkkinesis.client.{Page, ShardIterator}
import sparkkinesis.compat._

/**
 * Decodes a `GetRecords` response without creating an object per record. The SDK's own decoding
 * takes half of the time of reading a stream.
 */
private[aws] object GetRecordsDecoder {

  /**
   * The page, which refers to `body`. `None` if the SDK must decode the response: if it contains
   * data in base64 as some servers send it, or if it is malformed.
   */
  def decode(body: Array[Byte]): Option[Page] = {
    val response = new Response(body)
    Option.when(response.read())(response.page)
  }

  private val Next = "NextShardIterator".getBytes(UTF_8)

  private final class Response(body: Array[Byte])
      extends RecordsReader(body, new CborReader(body)) {
    private var next = Option.empty[ShardIterator]

    def page: Page = Page(records, next, millisBehind, children)

    override protected def readOwnMember(): Unit =
      if (isText(Next)) next = Some(ShardIterator(readText())) else skipMember()
  }
}
