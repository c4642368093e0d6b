package sparkkinesis.client.aws.wire

import java.nio.charset.StandardCharsets.UTF_8

import sparkkinesis.model.{PutEntry, StreamRef}

/**
 * Writes a `PutRecords` request into one array, each record's data copied once. The SDK makes objects of
 * every record and grows its body piece by piece.
 */
private[aws] object PutRecordsRequestCbor {

  /**
   * The body, of the SDK's meaning and order; `None` for what is left to the SDK: a key with half a
   * surrogate pair, and more bytes than any request of the service has.
   */
  def encode(stream: StreamRef, entries: Seq[PutEntry]): Option[Array[Byte]] = {
    val texts = entries.iterator.map(new Texts(_)).toArray
    val (member, name) = stream match {
      case StreamRef.ByName(name) => (StreamName, utf8(name.name))
      case StreamRef.ByArn(arn) => (StreamArn, utf8(arn.toString))
    }
    val length = lengthOf(entries, texts) + memberLength(member, name.length)
    if (length > MaxLength || texts.exists(_.isBroken)) None
    else {
      val body = new CborBody(length.toInt)
      body.beginMap()
      body.text(Records)
      body.beginArray()
      val text = texts.iterator
      entries.foreach(entry => write(body, entry, text.next()))
      body.end()
      body.text(member)
      body.text(name)
      body.end()
      Some(body.result())
    }
  }

  private def lengthOf(entries: Seq[PutEntry], texts: Array[Texts]): Long = {
    val text = texts.iterator
    entries.foldLeft(CborBody.itemLength(Records.length) + 4) { (sum, entry) =>
      sum + 2 + memberLength(Data, entry.data.length) + text.next().length
    }
  }

  private def memberLength(name: Array[Byte], content: Int): Long =
    CborBody.itemLength(name.length) + CborBody.itemLength(content)

  private def write(body: CborBody, entry: PutEntry, texts: Texts): Unit = {
    body.beginMap()
    body.text(Data)
    body.blob(entry.data)
    texts.hashKey.foreach { hashKey =>
      body.text(HashKey)
      body.text(hashKey)
    }
    body.text(Key)
    body.text(texts.key)
    body.end()
  }

  /** A record's texts, encoded once. */
  private final class Texts(entry: PutEntry) {
    val key: Array[Byte] = utf8(entry.partitionKey)
    val hashKey: Option[Array[Byte]] = entry.explicitHashKey.map(key => utf8(key.toString))

    def length: Long = memberLength(Key, key.length) +
      hashKey.fold(0L)(hashKey => memberLength(HashKey, hashKey.length))

    /** UTF-8 has no half pairs: encoding makes question marks of them. */
    def isBroken: Boolean = hasSurrogates(entry.partitionKey) &&
      new String(key, UTF_8) != entry.partitionKey
  }

  private def hasSurrogates(text: String): Boolean = {
    var i = 0
    while (i < text.length && !Character.isSurrogate(text.charAt(i))) i += 1
    i < text.length
  }

  private def utf8(text: String): Array[Byte] = text.getBytes(UTF_8)

  private val Records = utf8("Records")
  private val Data = utf8("Data")
  private val HashKey = utf8("ExplicitHashKey")
  private val Key = utf8("PartitionKey")
  private val StreamName = utf8("StreamName")
  private val StreamArn = utf8("StreamARN")

  /** Far above what the service takes in a request (10 MiB). */
  private val MaxLength = 64L * 1024 * 1024
}
