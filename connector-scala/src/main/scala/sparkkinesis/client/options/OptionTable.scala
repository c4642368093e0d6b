package sparkkinesis.client.options

/** The options of one side, as its object declares them: in the order of the documentation. */
private[sparkkinesis] abstract class OptionTable {
  private val declared = Seq.newBuilder[OptionSpec[_]]

  lazy val all: Seq[OptionSpec[_]] = declared.result()

  protected def optional[A](
      name: String,
      kind: OptionType[A],
      needs: Seq[String] = Nil,
      since: String = OptionSpec.FirstRelease
  )(text: String, unset: String = "No default."): OptionSpec[A] = {
    val spec = new OptionSpec(name, kind, oneLine(unset), oneLine(text), needs, since)
    declared += spec
    spec
  }

  protected def option[A](
      name: String,
      kind: OptionType[A],
      default: A,
      needs: Seq[String] = Nil,
      since: String = OptionSpec.FirstRelease
  )(text: String): DefaultedOption[A] = {
    val spec = new DefaultedOption(name, kind, default, oneLine(text), needs, since)
    declared += spec
    spec
  }

  private def oneLine(text: String): String = text.trim.replaceAll("\\s+", " ")
}
