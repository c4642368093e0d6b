package sparkkinesis.simulator.http.admin

import java.io.IOException

import scala.jdk.CollectionConverters._
import scala.util.control.NoStackTrace

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

/** @param message what is wrong with the request */
private[http] final class BadAdminRequest(message: String)
    extends RuntimeException(message)
    with NoStackTrace

/**
 * The members of the object in a request. Each method throws [[BadAdminRequest]] if a member has
 * another type. A null member counts as missing.
 */
private[http] final class AdminMembers(node: JsonNode) {
  def allowOnly(names: Seq[String]): Unit =
    node.fieldNames.asScala.find(!names.contains(_)).foreach { name =>
      throw new BadAdminRequest(s"Member '$name' is unknown: expected ${names.mkString(", ")}.")
    }

  def text(name: String): Option[String] = member(name).map { value =>
    if (value.isTextual) value.textValue else throw unfit(name, value.toString, "a string")
  }

  def whole(name: String, least: Long, most: Long): Option[Long] = member(name).map { value =>
    if (value.canConvertToLong && value.isIntegralNumber && fits(value.longValue, least, most))
      value.longValue
    else throw unfit(name, value.toString, s"a whole number of $least to $most")
  }

  def number(name: String, least: Double, most: Double): Option[Double] =
    member(name).map { value =>
      if (value.isNumber && value.doubleValue >= least && value.doubleValue <= most)
        value.doubleValue
      else throw unfit(name, value.toString, s"a number of ${plain(least)} to ${plain(most)}")
    }

  def missing(name: String, allowed: String): BadAdminRequest =
    new BadAdminRequest(s"Member '$name' is missing: expected $allowed.")

  def unfit(name: String, value: String, allowed: String): BadAdminRequest =
    new BadAdminRequest(s"Member '$name' is $value: expected $allowed.")

  private def member(name: String): Option[JsonNode] = Option(node.get(name)).filterNot(_.isNull)

  private def fits(value: Long, least: Long, most: Long): Boolean = least <= value && value <= most

  private def plain(number: Double): String = java.math.BigDecimal
    .valueOf(number)
    .toPlainString
    .stripSuffix(".0")
}

private[http] object AdminMembers {
  private val mapper = new ObjectMapper()

  def parse(body: Array[Byte]): AdminMembers = {
    val node =
      try mapper.readTree(body)
      catch { case _: IOException => throw new BadAdminRequest("The body is not JSON.") }
    if (node.isObject) new AdminMembers(node)
    else throw new BadAdminRequest("The body is not a JSON object.")
  }
}
