package sparkkinesis.client.options

/**
 * The declaration of one option, from which follow its parsing, its errors,
 * `tests/golden/options.json` and its row in `docs/reference/options.md`.
 *
 * @param unset the value without the option, in Markdown
 * @param text the description, in Markdown
 * @param needs without one of these options, or options with a value such as `aggregation=kpl`,
 *   this option has no effect
 * @param since the first release with the option
 */
private[sparkkinesis] sealed class OptionSpec[A](
    val name: String,
    val kind: OptionType[A],
    val unset: String,
    val text: String,
    val needs: Seq[String] = Nil,
    val since: String = OptionSpec.FirstRelease
) {

  /** Whether its value is never printed. */
  def isSecret: Boolean = kind.hides("")

  /** The default as a user writes it, if it is a value of the type. */
  def defaultText: Option[String] = None
}

/** An option whose default is a value of its type. */
private[sparkkinesis] final class DefaultedOption[A](
    name: String,
    kind: OptionType[A],
    val default: A,
    text: String,
    needs: Seq[String] = Nil,
    since: String = OptionSpec.FirstRelease
) extends OptionSpec[A](name, kind, s"`${kind.show(default)}`", text, needs, since) {
  override def defaultText: Option[String] = Some(kind.show(default))
}

private[sparkkinesis] object OptionSpec {
  val FirstRelease = "0.1.0"

  /** The known option of this name, in any case, with or without the prefix `kinesis.`. */
  def find(name: String, known: Seq[OptionSpec[_]]): Option[OptionSpec[_]] =
    known.find(option => OptionNames.normalized(option.name) == OptionNames.withoutPrefix(name))
}
