package sparkkinesis.simulator.http.wire

import java.nio.charset.StandardCharsets.UTF_8

/**
 * Checks text that must be written as UTF-8. An escape in JSON or a wrong byte in CBOR can leave
 * half a surrogate pair, which UTF-8 cannot contain.
 */
private[http] object UnicodeText {
  def apply(text: String): Boolean =
    !text.exists(Character.isSurrogate) || UTF_8.newEncoder().canEncode(text)

  /** Replaces each lone surrogate by a question mark. */
  def withoutLoneSurrogates(text: String): String =
    if (apply(text)) text else new String(text.getBytes(UTF_8), UTF_8)
}
