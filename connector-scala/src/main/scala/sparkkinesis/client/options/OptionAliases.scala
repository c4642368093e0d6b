package sparkkinesis.client.options

import sparkkinesis.client.options.ForeignOption._
import sparkkinesis.client.options.OptionException._
import sparkkinesis.client.options.Options.lower
import sparkkinesis.compat._

/**
 * An option in a user's words.
 *
 * @param name as it was given
 * @param written the value as it was given
 * @param value as we would write it
 */
private[client] final case class GivenOption(name: String, written: String, value: String) {

  /** For messages: our name in quotes, after the one given where that is another's. */
  def named(ours: String): String =
    if (lower(name) == lower(ours)) s"'$ours'" else s"'$name' ('$ours' here)"
}

/** Understands the names, and the values, that other connectors have for our options. */
private[sparkkinesis] object OptionAliases {

  /** Before the name of any option; some connectors want it, and it adds nothing. */
  val Prefix = "kinesis."

  private val byName: Map[String, ForeignOption] =
    (for (option <- ForeignOptions.All; name <- option.names) yield lower(name) -> option).toMap

  /**
   * The options that are ours, by their names in lower case, in whatever spelling they were given.
   *
   * @throws OptionException where a name means nothing, or two mean the same
   */
  def read(map: Map[String, String], known: Seq[String]): Map[String, GivenOption] = {
    val options = map.toSeq.sorted.filterNot { case (name, _) => OptionNames.isSparks(name) }.map {
      case (name, written) =>
        val (ours, form) = resolve(name, known).getOrElse {
          throw new OptionException(UnknownOption, OptionNames.unknown(name, known))
        }
        ours -> GivenOption(name, written, form.read(written.trim))
    }
    options.groupMap(_._1)(_._2.name).find(_._2.size > 1).foreach { case (ours, names) =>
      val all = names.mkString("'", "' and '", "'")
      throw conflicting(s"Options $all are the same one, '$ours'. Give it once.")
    }
    options.map { case (ours, value) => lower(ours) -> value }.toMap
  }

  /**
   * Which of ours a name means, however it is spelt, and how its values are written.
   *
   * @return `None` where it means none of `known`
   */
  private[options] def resolve(name: String, known: Seq[String]): Option[(String, ValueForm)] = {
    val bare = bareOf(name)
    val ours = known.find(option => lower(option) == bare).map(_ -> ValueForm.AsHere)
    ours.orElse(foreign(name).collect {
      case Same(counterpart, _, _, form, _) if known.contains(counterpart) => counterpart -> form
    })
  }

  /** What to do about another connector's option that is none of `known` here. */
  def remedy(name: String, known: Seq[String]): Option[String] = foreign(name).collect {
    case Different(_, _, remedy, naming) if naming.forall(known.contains) => remedy
    case Same(_, _, _, _, absent) if absent.nonEmpty => absent
  }

  /**
   * A position as we write it, from one that another connector would take: `AT_TIMESTAMP <instant>`
   * (awslabs), `{"at_timestamp": "<instant>"}` (Databricks). Others are left as they are.
   *
   * @return `Left` of what to do where it cannot be told which instant is meant
   */
  def position(text: String): Either[String, String] = text.trim match {
    case AtTimestamp(instant) => Right(instant)
    case AtTimestampJson(instant) => Right(instant)
    case AnyTimestampJson() =>
      Left("Write the instant itself, with its zone and without a format.")
    case json if json.startsWith("{") && json.contains("\"iteratorType\"") =>
      Left("A position of another connector's checkpoint cannot be taken over.")
    case other => Right(other)
  }

  private val AtTimestamp = "(?is)at_timestamp\\s+(\\S.*)".r
  private val AtTimestampJson = """(?s)\{\s*"at_timestamp"\s*:\s*"([^"\\]*)"\s*\}""".r
  private val AnyTimestampJson = """(?s)\{\s*"(?:at_timestamp|format)"\s*:.*""".r

  private def bareOf(name: String): String = lower(name).stripPrefix(Prefix)

  private def foreign(name: String): Option[ForeignOption] = byName.get(bareOf(name))
}
