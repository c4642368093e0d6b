package sparkkinesis.client.options

import java.util.Locale

import scala.concurrent.duration._

import sparkkinesis.compat._

/**
 * Options as a user gave them, their names known and free of case; read by type.
 *
 * Each reader answers `None` where the option is absent and throws [[OptionException]] where its
 * value is not of the type.
 */
final class Options private (values: Map[String, GivenOption]) {
  import Options._

  def contains(name: String): Boolean = values.contains(lower(name))

  /** Not blank, without the white space around it. */
  def text(name: String): Option[String] = values.get(lower(name)).map { option =>
    val value = option.value.trim
    if (value.isEmpty) throw invalid(name, "a value", "Leave it out to have the default.")
    value
  }

  /** For messages: the name in quotes, after the one that was given where that was another's. */
  def named(name: String): String = values.get(lower(name)).fold(s"'$name'")(_.named(name))

  /** One or more, with commas between them; none of them blank. */
  def texts(name: String): Seq[String] = text(name).toSeq.flatMap { all =>
    val each = all.split(",", -1).toSeq.map(_.trim)
    if (each.exists(_.isEmpty))
      throw invalid(name, "a value before and after each comma", "Take out the comma too many.")
    each
  }

  /** `true` or `false`. */
  def boolean(name: String): Option[Boolean] = text(name).map { value =>
    value.toLowerCase(Locale.ROOT).toBooleanOption.getOrElse {
      throw invalid(name, "true or false", "Say one of the two.")
    }
  }

  /** A whole number, 1 to 2^31 - 1. */
  def positiveInt(name: String): Option[Int] = text(name).map { value =>
    value.toIntOption.filter(_ > 0).getOrElse {
      throw invalid(name, s"a whole number from 1 to ${Int.MaxValue}", "Give it in digits.")
    }
  }

  /** A whole number, 1 to 2^63 - 1. */
  def positiveLong(name: String): Option[Long] = text(name).map { value =>
    value.toLongOption.filter(_ > 0).getOrElse {
      throw invalid(name, s"a whole number from 1 to ${Long.MaxValue}", "Give it in digits.")
    }
  }

  /** More than nothing, at most a year: digits and one of `ms`, `s`, `m`, `h`. */
  def duration(name: String): Option[FiniteDuration] = text(name).map { value =>
    val read = lower(value) match {
      case DurationPattern(digits, unit) =>
        val most = LongestDuration.toMillis / DurationUnits(unit).toMillis
        digits.toLongOption.filter(n => n > 0 && n <= most).map(_ * DurationUnits(unit))
      case _ => None
    }
    read.getOrElse {
      throw invalid(
        name,
        s"a duration above zero such as 200ms, 10s, 5m or 1h, at most ${LongestDuration.toHours}h",
        "Write digits and a unit, without a space."
      )
    }
  }

  /** Bytes, 1 to 2^50: digits alone, or with one of `k`, `m`, `g` (times 1024). */
  def size(name: String): Option[Long] = text(name).map { value =>
    val read = lower(value) match {
      case SizePattern(digits, unit) =>
        val most = LargestSize >> SizeShifts(unit)
        digits.toLongOption.filter(n => n > 0 && n <= most).map(_ << SizeShifts(unit))
      case _ => None
    }
    read.getOrElse {
      throw invalid(
        name,
        s"a size above zero such as 512k, 64m or 1g, at most ${LargestSize >> 30}g",
        "Write digits and a unit, without a space."
      )
    }
  }

  /**
   * What to throw where the value does not serve. A secret value is not repeated.
   *
   * @param expected goes on "expected ..."
   * @param remedy a sentence
   */
  def invalid(name: String, expected: String, remedy: String): OptionException = {
    val value =
      if (Secrets(lower(name))) "***" else values.get(lower(name)).fold("")(_.written)
    new OptionException(
      OptionException.InvalidOption,
      s"Option ${named(name)} is '$value': expected $expected. $remedy"
    )
  }

  /** Positions as other connectors write them become ours. */
  private def withPosition: Options = values.get(lower(Position)).fold(this) { option =>
    val value = OptionAliases.position(option.value).left.map { remedy =>
      invalid(Position, "an instant such as 2026-11-21T08:00:00Z", remedy)
    }
    val read = option.copy(value = value.fold(throw _, identity))
    new Options(values.updated(lower(Position), read))
  }

  /** Names only: values may be secret. */
  override def toString: String =
    values.values.map(_.name).toSeq.sorted.mkString("Options(", ", ", ")")
}

object Options {

  /** Never printed. */
  private val Secrets =
    Set("awsAccessKeyId", "awsSecretAccessKey", "awsSessionToken", "roleExternalId").map(lower)

  private val Position = "startingPosition"

  private val DurationPattern = "(\\d+)(ms|s|m|h)".r
  private val DurationUnits = Map("ms" -> 1.milli, "s" -> 1.second, "m" -> 1.minute, "h" -> 1.hour)
  private val LongestDuration = 365.days
  private val SizePattern = "(\\d+)([kmg]?)".r
  private val SizeShifts = Map("" -> 0, "k" -> 10, "m" -> 20, "g" -> 30)
  private val LargestSize = 1L << 50

  /**
   * @param map as Spark hands them over
   * @param known the names that mean something here; Spark's own, and what other connectors call
   *   ours, come on top
   * @throws OptionException where a name means nothing, with the name that was perhaps meant, or
   *   two names mean the same
   */
  def parse(map: Map[String, String], known: Seq[String]): Options =
    new Options(OptionAliases.read(map, known)).withPosition

  /** Which of the known options a name means, in any of its spellings. */
  def meaning(name: String, known: Seq[String]): Option[String] =
    OptionAliases.resolve(name, known).map(_._1)

  /** Whether an option of this name holds a value that is never printed. */
  def isSecret(name: String): Boolean =
    meaning(name, ConnectionOptions.Names).exists(ours => Secrets(lower(ours)))

  private[client] def lower(text: String): String = text.toLowerCase(Locale.ROOT)
}
