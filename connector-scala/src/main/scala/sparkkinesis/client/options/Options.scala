package sparkkinesis.client.options

import java.net.URI

import scala.concurrent.duration._
import scala.util.Try

import sparkkinesis.client.options.OptionNames.normalized
import sparkkinesis.compat._

/**
 * The options that a user set. Their names are known and have no case.
 *
 * Each method that reads a value returns `None` if the option is not set, and throws
 * [[OptionException]] if the value does not have the type.
 */
final class Options private (values: Map[String, OptionValue]) {
  import Options._

  def contains(name: String): Boolean = values.contains(normalized(name))

  /** A value that is not blank, without surrounding white space. */
  def text(name: String): Option[String] = values.get(normalized(name)).map { option =>
    val value = option.value.trim
    if (value.isEmpty) throw invalid(name, "a value", "To use the default, remove the option.")
    value
  }

  /** The option's name for messages: the user's name in quotes, with ours if they differ. */
  def named(name: String): String = values.get(normalized(name)).fold(s"'$name'")(_.named(name))

  /** Values separated by commas, none of them blank. */
  def texts(name: String): Seq[String] = text(name).toSeq.flatMap { all =>
    val each = all.split(",", -1).toSeq.map(_.trim)
    if (each.exists(_.isEmpty))
      throw invalid(name, "a value before and after each comma", "Remove the extra comma.")
    each
  }

  /** `true` or `false`. */
  def boolean(name: String): Option[Boolean] = text(name).map { value =>
    normalized(value).toBooleanOption.getOrElse {
      throw invalid(name, "true or false", "Set one of the two.")
    }
  }

  /** A whole number from 1 to 2^31 - 1. */
  def positiveInt(name: String): Option[Int] = text(name).map { value =>
    value.toIntOption.filter(_ > 0).getOrElse {
      throw invalid(name, s"a whole number from 1 to ${Int.MaxValue}", "Use digits only.")
    }
  }

  /** A whole number from 1 to 2^63 - 1. */
  def positiveLong(name: String): Option[Long] = text(name).map { value =>
    value.toLongOption.filter(_ > 0).getOrElse {
      throw invalid(name, s"a whole number from 1 to ${Long.MaxValue}", "Use digits only.")
    }
  }

  /** A duration of more than zero and at most one year: digits and one of `ms`, `s`, `m`, `h`. */
  def duration(name: String): Option[FiniteDuration] = text(name).map { value =>
    val read = normalized(value) match {
      case DurationPattern(digits, unit) =>
        val most = LongestDuration.toMillis / DurationUnits(unit).toMillis
        digits.toLongOption.filter(n => n > 0 && n <= most).map(_ * DurationUnits(unit))
      case _ => None
    }
    read.getOrElse {
      throw invalid(
        name,
        s"a duration above zero such as 200ms, 10s, 5m or 1h, at most ${LongestDuration.toHours}h",
        DigitsAndUnit
      )
    }
  }

  /** A number of bytes from 1 to 2^50: digits, and optionally `k`, `m` or `g` (powers of 1024). */
  def size(name: String): Option[Long] = size(name, least = 1, "a size above zero such as")

  /** A size, which may be 0. */
  def sizeOrZero(name: String): Option[Long] = size(name, least = 0, "0 or a size such as")

  private def size(name: String, least: Long, expected: String): Option[Long] =
    text(name).map { value =>
      val read = normalized(value) match {
        case SizePattern(digits, unit) =>
          val most = LargestSize >> SizeShifts(unit)
          digits.toLongOption.filter(n => n >= least && n <= most).map(_ << SizeShifts(unit))
        case _ => None
      }
      read.getOrElse {
        val limits = s"$expected 512k, 64m or 1g, at most ${LargestSize >> 30}g"
        throw invalid(name, limits, DigitsAndUnit)
      }
    }

  /** @throws OptionException if the option is set without the other one */
  def requireBeside(name: String, other: String): Unit =
    if (contains(name) && !contains(other))
      throw OptionException.missing(
        s"Option ${named(name)} is set without '$other'. Set '$other', or remove the option."
      )

  /**
   * A URL to which calls go: `https`, or `http` if the host is this machine or if
   * [[Options.AllowUnencrypted]] is set.
   */
  def endpoint(name: String): Option[URI] = url(name, "http://127.0.0.1:4567").map { uri =>
    val isEncrypted = normalized(uri.getScheme) == "https"
    if (!isEncrypted && !isLoopback(uri) && !boolean(AllowUnencrypted).contains(true))
      throw invalid(
        name,
        "https, or a host of this machine",
        "Calls carry records and session tokens, and answers of the token service carry keys. " +
          s"For a server of tests, set '$AllowUnencrypted' to true."
      )
    uri
  }

  /**
   * A URL: `http` or `https` with a host, without user and password.
   *
   * @param example for the message
   */
  def url(name: String, example: String): Option[URI] = text(name).map(url(name, _, example))

  private def url(name: String, text: String, example: String): URI = {
    if (text.contains('@'))
      throw new OptionException(
        OptionException.InvalidOption,
        s"Option ${named(name)} contains an '@': expected a URL without user and password. " +
          "Set credentials in their own options."
      )
    Try(new URI(text)).toOption.filter(isHttp).getOrElse {
      throw invalid(
        name,
        s"a URL with http or https and a host, such as $example",
        "To use the default, remove the option."
      )
    }
  }

  private def isHttp(uri: URI): Boolean =
    Option(uri.getScheme).map(normalized).exists(Set("http", "https")) && uri.getHost != null

  /**
   * The exception for an invalid value. Masks the value of a secret.
   *
   * @param expected follows "expected"
   * @param remedy a sentence that says what to do
   */
  def invalid(name: String, expected: String, remedy: String): OptionException = {
    val value =
      if (Secrets(normalized(name))) "***" else values.get(normalized(name)).fold("")(_.written)
    new OptionException(
      OptionException.InvalidOption,
      s"Option ${named(name)} is '$value': expected $expected. $remedy"
    )
  }

  /** Translates a position from the form of another connector. */
  private def withPosition: Options = values.get(normalized(Position)).fold(this) { option =>
    val value = OptionParser.position(option.value).left.map { remedy =>
      invalid(Position, "an instant such as 2026-11-21T08:00:00Z", remedy)
    }
    val translated = option.copy(value = value.fold(throw _, identity))
    new Options(values.updated(normalized(Position), translated))
  }

  /** Names only, because a value may be secret. */
  override def toString: String =
    values.values.map(_.name).toSeq.sorted.mkString("Options(", ", ", ")")
}

object Options {
  val AllowUnencrypted = "allowUnencryptedEndpoint"

  /** Options whose values are never printed. */
  private val SecretNames =
    Seq(
      "awsAccessKeyId",
      "awsSecretAccessKey",
      "awsSessionToken",
      "credentialsProviderSecret",
      "roleExternalId",
      "proxyPassword"
    )
  private val Secrets = SecretNames.map(normalized).toSet

  private val Position = "startingPosition"
  private val DigitsAndUnit = "Write digits and a unit, without a space."

  private val DurationPattern = "(\\d+)(ms|s|m|h)".r
  private val DurationUnits = Map("ms" -> 1.milli, "s" -> 1.second, "m" -> 1.minute, "h" -> 1.hour)
  private val LongestDuration = 365.days
  private val SizePattern = "(\\d+)([kmg]?)".r
  private val SizeShifts = Map("" -> 0, "k" -> 10, "m" -> 20, "g" -> 30)
  private val LargestSize = 1L << 50

  /**
   * Reads the options that Spark passes.
   *
   * @param known our options that apply here. Spark's own options are ignored, and other
   *   connectors' names for the known options are accepted
   * @throws OptionException if a name is unknown (suggests the nearest), or if two names mean the
   *   same option
   */
  def parse(map: Map[String, String], known: Seq[String]): Options =
    new Options(OptionParser.read(map, known)).withPosition

  /** The known option that a name means, in any of its spellings. */
  def meaning(name: String, known: Seq[String]): Option[String] =
    OptionParser.resolve(name, known).map(_._1)

  /** Whether the text is a URL of this machine: `localhost`, `127.*` or `[::1]`. */
  def isOnThisMachine(url: String): Boolean = Try(new URI(url)).toOption.exists(isLoopback)

  private def isLoopback(uri: URI) = Option(uri.getHost).map(normalized).exists { host =>
    host == "localhost" || host == "[::1]" || host.matches("127(\\.\\d{1,3}){3}")
  }

  /** Whether the value of the option is never printed. */
  def isSecret(name: String): Boolean = meaning(name, SecretNames).nonEmpty
}
