package sparkkinesis.client.options

import sparkkinesis.client.options.OptionNames.normalized

/**
 * An option of other connectors: a row of [[ForeignOptions.All]].
 *
 * @param names its names, without a leading `kinesis.`
 * @param connectors the connectors that have it, separated by commas
 * @param counterpart our option with the same meaning
 * @param values how its values differ from those of the counterpart
 * @param remedy what to do if the counterpart is missing; names our options in single quotes
 */
private[sparkkinesis] final case class ForeignOption(
    names: Seq[String],
    connectors: String,
    counterpart: Option[String] = None,
    values: ForeignValues = ForeignValues.Unchanged,
    remedy: String = ""
) {

  /** The remedy, unless it names an option that does not exist here. */
  def remedyFor(known: Seq[String]): Option[String] = Some(remedy).filter { text =>
    text.nonEmpty && ForeignOption.Quoted
      .findAllMatchIn(text)
      .forall(m => known.contains(m.group(1)))
  }
}

private object ForeignOption {
  private val Quoted = "'(\\w+)'".r
}

/**
 * How other connectors write the values of an option.
 *
 * @param title for the documentation; empty if they write them as we do
 * @param translate from their form to ours
 */
private[sparkkinesis] final case class ForeignValues(title: String, translate: String => String)

private[sparkkinesis] object ForeignValues {
  val Unchanged: ForeignValues = ForeignValues("", identity)

  val Milliseconds: ForeignValues = ForeignValues(
    "`200` becomes `200ms`",
    text => if (text.matches("\\d+")) s"${text}ms" else text
  )

  /** @param pairs their word, in any case, and ours */
  def words(pairs: (String, String)*): ForeignValues = ForeignValues(
    pairs.map { case (theirs, ours) => s"`$theirs` becomes `$ours`" }.mkString(", "),
    text =>
      pairs
        .collectFirst { case (theirs, ours) if normalized(theirs) == normalized(text) => ours }
        .getOrElse(text)
  )
}
