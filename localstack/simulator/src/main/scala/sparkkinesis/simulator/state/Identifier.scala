package sparkkinesis.simulator.state

/** The format of the names of streams, shards and consumers. */
private[simulator] object Identifier {

  /** The characters of an identifier, as part of a regular expression. */
  val Pattern = "[a-zA-Z0-9_.-]{1,128}"

  /** The format as error messages describe it. */
  val Form = "[a-zA-Z0-9_.-]+, 1 to 128 characters"

  def fits(text: String): Boolean = text.matches(Pattern)
}
