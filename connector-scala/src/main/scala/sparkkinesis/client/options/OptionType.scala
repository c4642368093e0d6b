package sparkkinesis.client.options

import java.net.URI

import scala.concurrent.duration._
import scala.util.Try

import sparkkinesis.client.options.OptionNames.normalized
import sparkkinesis.compat._

/**
 * The type of an option's values.
 *
 * @param name for the documentation
 * @param expected follows "expected" in an error
 * @param remedy a sentence that says what to do about a text of another form
 * @param read `None` if the text, which is not blank, has another form
 * @param isWithin whether a value is within the bounds
 * @param boundRemedy a sentence about a value that is not
 * @param show a value as a user writes it
 * @param words the only values, or those besides the others
 * @param least the smallest value, if it is no matter of course
 * @param most the largest value, likewise
 * @param hides whether no message may contain the text
 */
private[sparkkinesis] final case class OptionType[A](
    name: String,
    expected: String,
    remedy: String,
    read: String => Option[A],
    isWithin: A => Boolean = (_: A) => true,
    boundRemedy: String = OptionType.UseDefault,
    show: A => String = (_: A).toString,
    words: Seq[String] = Nil,
    least: Option[String] = None,
    most: Option[String] = None,
    hides: String => Boolean = _ => false
) {

  /** This type with the reason for its bounds. */
  def because(reason: String): OptionType[A] = copy(boundRemedy = reason)

  /** The value of a text that is not blank, or what to do about it. */
  def parse(text: String): Either[String, A] =
    read(text).toRight(remedy).flatMap(it => Either.cond(isWithin(it), it, boundRemedy))

  /** These values, and a word that stands for none of them. */
  def or(word: String): OptionType[Option[A]] = OptionType(
    name,
    s"$expected, or $word",
    remedy,
    text => if (text.equalsIgnoreCase(word)) Some(None) else read(text).map(Some(_)),
    (value: Option[A]) => value.forall(isWithin),
    boundRemedy,
    (value: Option[A]) => value.fold(word)(show),
    Seq(word),
    least,
    most
  )
}

private[sparkkinesis] object OptionType {
  private[options] val UseDefault = "To use the default, remove the option."
  private val DigitsAndUnit = "Write digits and a unit, without a space."

  val text: OptionType[String] = OptionType("text", "a value", UseDefault, Some(_))

  /** A text that is never printed. */
  val secret: OptionType[String] = text.copy(hides = _ => true)

  /** A text of a pattern. */
  def matching(pattern: String, expected: String, remedy: String): OptionType[String] =
    OptionType("text", expected, remedy, Some(_).filter(_.matches(pattern)))

  /** Texts separated by commas, none of them blank. */
  val texts: OptionType[Seq[String]] = OptionType(
    "texts",
    "a value before and after each comma",
    "Remove the extra comma.",
    text => Some(text.split(",", -1).toSeq.map(_.trim)).filterNot(_.exists(_.isEmpty))
  )

  /** One of the words, which a user may write in any case. */
  def word(first: String, others: String*): OptionType[String] = {
    val words = first +: others
    OptionType(
      "word",
      words.mkString(" or "),
      "Use one of these words.",
      text => words.find(normalized(_) == normalized(text)),
      words = words
    )
  }

  val boolean: OptionType[Boolean] = OptionType(
    "boolean",
    "true or false",
    "Set one of the two.",
    text => normalized(text).toBooleanOption
  )

  /** A whole number from 1. */
  def number(most: Int = Int.MaxValue): OptionType[Int] =
    whole(_.toIntOption, 1, most, Int.MaxValue)

  /** A whole number from 1 that may exceed those of [[number]]. */
  val long: OptionType[Long] = whole(_.toLongOption, 1L, Long.MaxValue, Long.MaxValue)

  private def whole[A: Ordering](read: String => Option[A], one: A, most: A, largest: A) =
    bounded[A](
      "number",
      s"a whole number from $one to $most",
      "Use digits only.",
      read,
      _.toString,
      (one, most),
      (one, largest)
    )

  /**
   * @param bounds the smallest and the largest value
   * @param usual those that are a matter of course, and not documented
   */
  private def bounded[A](
      name: String,
      expected: String,
      remedy: String,
      read: String => Option[A],
      show: A => String,
      bounds: (A, A),
      usual: (A, A)
  )(implicit order: Ordering[A]): OptionType[A] = {
    val (least, most) = bounds
    OptionType(
      name,
      expected,
      remedy,
      read,
      value => order.gteq(value, least) && order.lteq(value, most),
      show = show,
      least = Option.when(least != usual._1)(show(least)),
      most = Option.when(most != usual._2)(show(most))
    )
  }

  /** A duration: digits and one of `ms`, `s`, `m`, `h`. */
  def duration(
      least: FiniteDuration = ShortestDuration,
      most: FiniteDuration = LongestDuration
  ): OptionType[FiniteDuration] = {
    val lower = if (least == ShortestDuration) "above zero" else s"of at least ${shown(least)}"
    val examples = Seq(200.millis, 10.seconds, 5.minutes, 1.hour)
      .filter(it => it >= least && it <= most)
      .map(shown)
    bounded[FiniteDuration](
      "duration",
      s"a duration $lower such as ${oneOf(examples)}, at most ${shown(most)}",
      DigitsAndUnit,
      text => durationOf(normalized(text)),
      shown(_),
      (least, most),
      (ShortestDuration, LongestDuration)
    )
  }

  /** A number of bytes: digits, and optionally `k`, `m` or `g` (powers of 1024). */
  def size(least: Long = 1, most: Long = LargestSize): OptionType[Long] = {
    val examples = Seq(512L << 10, 64L << 20, 1L << 30).filter(it => it >= least && it <= most)
    val lower = least match {
      case 0 => "0 or a size"
      case 1 => "a size above zero"
      case _ => s"a size of at least ${shown(least)}"
    }
    bounded[Long](
      "size",
      s"$lower such as ${oneOf(examples.map(shown))}, at most ${shown(most)}",
      DigitsAndUnit,
      text => sizeOf(normalized(text)),
      shown(_),
      (least, most),
      (math.min(least, 1L), LargestSize) // above zero is a matter of course, and so is 0
    )
  }

  /**
   * A URL: `http` or `https` with a host, without user and password.
   *
   * @param example for the message
   */
  def url(example: String): OptionType[URI] = OptionType(
    "url",
    s"a URL with http or https and a host, without user and password, such as $example",
    UseDefault,
    text =>
      Some(text).filterNot(_.contains('@')).flatMap(it => Try(new URI(it)).toOption).filter(isHttp),
    hides = _.contains('@')
  )

  private def isHttp(uri: URI) =
    Option(uri.getScheme).map(normalized).exists(Set("http", "https")) && uri.getHost != null

  private val Duration = "(\\d+)(ms|s|m|h)".r
  private val Units = Seq("h" -> 1.hour, "m" -> 1.minute, "s" -> 1.second, "ms" -> 1.milli)
  private val ShortestDuration = 1.milli
  private val LongestDuration: FiniteDuration = 365.days

  private def durationOf(text: String): Option[FiniteDuration] = text match {
    case Duration(digits, unit) =>
      val (_, length) = Units.find(_._1 == unit).get
      Some(length * atMost(digits, LongestDuration.toMillis / length.toMillis + 1))
    case _ => None
  }

  /** A larger number, which is out of bounds, could not be represented. */
  private def atMost(digits: String, most: Long): Long =
    digits.toLongOption.fold(most)(math.min(_, most))

  private def shown(value: FiniteDuration): String = {
    val (unit, length) = Units.find(value.toMillis % _._2.toMillis == 0).get
    s"${value.toMillis / length.toMillis}$unit"
  }

  private val Size = "(\\d+)([kmg]?)".r
  private val Shifts = Seq("g" -> 30, "m" -> 20, "k" -> 10, "" -> 0)
  private val LargestSize = 1L << 50

  private def sizeOf(text: String): Option[Long] = text match {
    case Size(digits, unit) =>
      val (_, shift) = Shifts.find(_._1 == unit).get
      Some(atMost(digits, (LargestSize >> shift) + 1) << shift)
    case _ => None
  }

  private def shown(bytes: Long): String = if (bytes == 0) "0"
  else {
    val (unit, shift) = Shifts.find { case (_, it) => bytes % (1L << it) == 0 }.get
    s"${bytes >> shift}$unit"
  }

  private def oneOf(examples: Seq[String]): String =
    if (examples.size < 2) examples.mkString
    else s"${examples.init.mkString(", ")} or ${examples.last}"
}
