package sparkkinesis.client.options

/**
 * An option of another connector.
 *
 * @param names as that connector spells them, without a leading `kinesis.`
 * @param of whose it is
 */
private[sparkkinesis] sealed trait ForeignOption {
  def names: Seq[String]
  def of: String
}

private[sparkkinesis] object ForeignOption {

  /**
   * Means what `ours` means: taken for it.
   *
   * @param form of its values
   * @param absent what to say where `ours` is not known
   */
  final case class Same(
      ours: String,
      names: Seq[String],
      of: String,
      form: ValueForm = ValueForm.AsHere,
      absent: String = ""
  ) extends ForeignOption

  /**
   * Means nothing here, or not quite what ours means: refused.
   *
   * @param remedy sentences
   * @param naming our options that `remedy` tells of; where one is not known it is not said
   */
  final case class Different(
      names: Seq[String],
      of: String,
      remedy: String,
      naming: Seq[String] = Nil
  ) extends ForeignOption
}

/**
 * How an option's value is written elsewhere.
 *
 * @param title for the documentation; empty where it is written as here
 */
private[sparkkinesis] final case class ValueForm(title: String, read: String => String)

private[sparkkinesis] object ValueForm {
  val AsHere: ValueForm = ValueForm("", identity)

  val Milliseconds: ValueForm = ValueForm(
    "`200` is `200ms`",
    text => if (text.matches("\\d+")) s"${text}ms" else text
  )

  val ConsumerType: ValueForm = ValueForm(
    "`GetRecords` is `polling`, `SubscribeToShard` is `efo`",
    text =>
      Options.lower(text) match {
        case "getrecords" => "polling"
        case "subscribetoshard" => "efo"
        case _ => text
      }
  )

  val Aggregation: ValueForm = ValueForm(
    "`true` is `kpl`, `false` is `none`",
    text =>
      Options.lower(text) match {
        case "true" => "kpl"
        case "false" => "none"
        case _ => text
      }
  )
}
