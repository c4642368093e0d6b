package sparkkinesis.simulator.http.wire

import java.nio.charset.StandardCharsets.UTF_8

/**
 * Text that UTF-8 can carry. JSON's escapes, and broken bytes in CBOR, can make half a surrogate
 * pair, which no answer could repeat.
 */
private[http] object UnicodeText {
  def apply(text: String): Boolean =
    !text.exists(Character.isSurrogate) || UTF_8.newEncoder().canEncode(text)

  /** With question marks in place of what cannot be carried. */
  def withoutLoneSurrogates(text: String): String =
    if (apply(text)) text else new String(text.getBytes(UTF_8), UTF_8)
}
