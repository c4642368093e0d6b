package sparkkinesis.simulator.state

/** The form that names of streams, shards and consumers have. */
private[simulator] object Identifier {

  /** As part of a regular expression. */
  val Pattern = "[a-zA-Z0-9_.-]{1,128}"

  /** As refusals tell it. */
  val Form = "[a-zA-Z0-9_.-]+, 1 to 128 characters"

  def fits(text: String): Boolean = text.matches(Pattern)
}
