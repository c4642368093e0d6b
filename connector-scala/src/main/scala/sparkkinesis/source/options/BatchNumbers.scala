package sparkkinesis.source.options

import scala.collection.immutable.SortedSet

import sparkkinesis.compat._

/** Sets of batch numbers, as options and messages write them. */
private[sparkkinesis] object BatchNumbers {

  /**
   * Most batches that the option may name. Each number costs the driver one small file. A
   * checkpoint has a hundred by default.
   */
  val Most = 10000

  /**
   * Parses numbers and ranges such as `120-124` or `120,122`. A range contains both of its ends.
   *
   * @return `None` if the text has another form, or names no number or more than [[Most]]
   */
  def parse(text: String): Option[SortedSet[Long]] = {
    val ranges = text.split(",", -1).toSeq.map(part => range(part.trim))
    val size = ranges.flatten.map { case (first, last) => BigInt(last) - first + 1 }.sum
    if (ranges.exists(_.isEmpty) || size > Most) None
    else
      Some(ranges.flatten.foldLeft(SortedSet.empty[Long]) { case (all, (first, last)) =>
        all ++ (first to last)
      })
  }

  private def range(part: String): Option[(Long, Long)] = part match {
    case One(number) => number.toLongOption.map(it => it -> it)
    case Range(from, to) =>
      for (first <- from.toLongOption; last <- to.toLongOption if first <= last)
        yield first -> last
    case _ => None
  }

  /** The numbers as text, such as `3, 120 to 124`; `none` if there are none. */
  def text(numbers: SortedSet[Long]): String = {
    val ranges = numbers.foldLeft(Vector.empty[(Long, Long)]) {
      case (before :+ ((first, last)), number) if number == last + 1 => before :+ (first -> number)
      case (before, number) => before :+ (number -> number)
    }
    if (ranges.isEmpty) "none"
    else
      ranges
        .map { case (first, last) => if (first == last) s"$first" else s"$first to $last" }
        .mkString(", ")
  }

  private val One = "(\\d+)".r
  private val Range = "(\\d+)\\s*-\\s*(\\d+)".r
}
