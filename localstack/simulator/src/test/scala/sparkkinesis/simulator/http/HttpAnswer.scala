package sparkkinesis.simulator.http

import java.io.IOException
import java.nio.charset.StandardCharsets.ISO_8859_1

import scala.util.Using

import com.fasterxml.jackson.core.JsonFactory
import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.dataformat.cbor.CBORFactory

import sparkkinesis.simulator.http.wire.WireFormat

/** One parsed response of the server. */
private[http] final case class HttpAnswer(status: Int, head: String, body: Array[Byte]) {
  def header(name: String): Option[String] = {
    val at = head.indexOf(s"\r\n$name: ")
    Option.when(at >= 0)(head.substring(at + name.length + 4, head.indexOf("\r\n", at + 2)))
  }

  /** Goes on for longer than one looks. */
  def isStream: Boolean = header("transfer-encoding").nonEmpty

  /** What a client of AWS would not accept in it. */
  def fault: Option[String] =
    if (status == 200) bodyFault
    else if (status < 400 || status > 499) Some(s"status $status")
    else if (HttpAnswer.OfHttp(status) && body.isEmpty) None
    else if (header("x-amzn-ErrorType").isEmpty) Some("no x-amzn-ErrorType")
    else {
      val said = document
      if (said.hasNonNull("__type") && said.hasNonNull("message")) None
      else Some(s"no error but $said")
    }

  /** Nothing, or one document in the format that the head names: more or less is no answer. */
  private def bodyFault: Option[String] =
    if (body.isEmpty) None
    else
      header("content-type").filter(HttpAnswer.Formats) match {
        case None => Some(s"a body of type ${header("content-type")}")
        case Some(named) =>
          val factory =
            if (named == WireFormat.Cbor.contentType) new CBORFactory else new JsonFactory
          try
            Using.resource(factory.createParser(body)) { parser =>
              parser.nextToken()
              parser.skipChildren()
              Option.when(parser.nextToken() != null)(s"more than one document in $named")
            }
          catch { case e: IOException => Some(s"no $named but $e") }
      }

  private def document: JsonNode = WireFormat.of(header("content-type")).parse(body)
}

private[http] object HttpAnswer {
  private val Formats = Set(WireFormat.Json, WireFormat.Cbor).map(_.contentType)

  /** Statuses of HTTP itself: too large, unknown expectation. */
  private val OfHttp = Set(413, 417)

  /** The first of some answers, and the bytes of the others. */
  def first(bytes: Array[Byte]): Option[(HttpAnswer, Array[Byte])] = {
    val text = new String(bytes, 0, math.min(bytes.length, 2048), ISO_8859_1)
    val end = text.indexOf("\r\n\r\n")
    Option.when(end > 0 && text.startsWith("HTTP/1.")) {
      val answer = HttpAnswer(text.substring(9, 12).toInt, text.substring(0, end + 2), bytes)
      val start = end + 4
      val length = answer.header("content-length").fold(bytes.length - start)(_.toInt)
      val rest = bytes.drop(start + length)
      (answer.copy(body = bytes.slice(start, start + length)), rest)
    }
  }

  /** All HTTP/1.1 responses in these bytes. */
  def all(bytes: Array[Byte]): List[HttpAnswer] =
    if (bytes.isEmpty) Nil
    else
      first(bytes) match {
        case Some((answer, rest)) => answer :: all(rest)
        case None => Nil
      }
}
