package sparkkinesis.model

/** Text of rows, of files and of a service, as messages and logs may show it. */
private[sparkkinesis] object Printable {

  /**
   * The beginning of the text, with escapes in place of line breaks and other control characters,
   * so that it cannot pretend to be a line of a log.
   */
  def apply(text: String, most: Int): String =
    text.take(most).flatMap(char => if (isSafe(char)) char.toString else f"\\u${char.toInt}%04x")

  private def isSafe(char: Char): Boolean = Character.getType(char).toByte match {
    case Character.CONTROL | Character.FORMAT | Character.LINE_SEPARATOR |
        Character.PARAGRAPH_SEPARATOR =>
      false
    case _ => true
  }
}
