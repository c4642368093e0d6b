package sparkkinesis.sink.lane

import sparkkinesis.model.PutEntry

/** The size that the service's limits apply to: data plus partition key in UTF-8. */
private[sink] object EntrySize {
  def of(entry: PutEntry): Long = entry.data.length.toLong + utf8Length(entry.partitionKey)

  /** Length of the encoded text. Runs for every record, so it does not encode the text. */
  private[sink] def utf8Length(text: String): Int = {
    var bytes = 0
    var i = 0
    while (i < text.length) {
      val c = text.charAt(i)
      if (c < 0x80) bytes += 1
      else if (c < 0x800) bytes += 2
      else if (isPair(text, i)) {
        bytes += 4
        i += 1
      } else if (Character.isSurrogate(c)) bytes += 1 // half of a pair is encoded as '?'
      else bytes += 3
      i += 1
    }
    bytes
  }

  private def isPair(text: String, i: Int): Boolean =
    i + 1 < text.length && Character.isSurrogatePair(text.charAt(i), text.charAt(i + 1))
}
