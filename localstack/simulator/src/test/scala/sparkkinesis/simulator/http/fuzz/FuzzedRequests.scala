package sparkkinesis.simulator.http.fuzz

import java.nio.charset.StandardCharsets.ISO_8859_1

import sparkkinesis.simulator.http.wire.WireFormat

/**
 * HTTP requests, most of them nearly what a client of AWS sends.
 *
 * @param shapes of the operations, by name
 */
private[http] final class FuzzedRequests(
    dice: Dice,
    world: FuzzWorld,
    shapes: Vector[(String, Shape.Structure)]
) {
  import FuzzedRequests._

  private val bodies = new FuzzedBodies(dice, world)

  /** Framed well, so that there must be one answer. */
  def framed(): Array[Byte] = {
    val (operation, shape) = dice.oneOf(shapes)
    val format = dice.oneOf(Formats)
    val body = bodies.next(shape, format)
    val lines = Seq(
      s"${rarely(Methods, "POST")} ${rarely(Paths, "/")} HTTP/1.1",
      "Host: 127.0.0.1",
      s"X-Amz-Target: ${rarely(Targets, s"Kinesis_20131202.$operation")}",
      s"Content-Type: ${rarely(ContentTypes, format.contentType)}",
      s"Authorization: ${rarely(Authorizations, Authorization)}"
    ) ++ (if (dice.oneIn(20)) Seq(dice.oneOf(Extras)) else Nil)
    if (dice.oneIn(20)) head(lines :+ "Transfer-Encoding: chunked") ++ chunked(body)
    else head(lines :+ s"Content-Length: ${body.length}") ++ body
  }

  /** A well-framed request to the admin endpoint. */
  def admin(): Array[Byte] = {
    val body =
      if (dice.oneIn(3)) bodies.next(AdvanceShape, WireFormat.Json)
      else bodies.next(FaultShape, WireFormat.Json)
    val (method, path) = (dice.oneOf(AdminMethods), dice.oneOf(AdminPaths))
    head(Seq(s"$method /_simulator/$path HTTP/1.1", s"Content-Length: ${body.length}")) ++ body
  }

  /** Anything: there may be no answer, one or several. */
  def raw(): Array[Byte] = dice.below(4) match {
    case 0 => bodies.mutated(framed())
    case 1 => bodies.mutated(framed() ++ framed())
    case 2 =>
      val (operation, _) = dice.oneOf(shapes)
      val lines = Seq(
        "POST / HTTP/1.1",
        s"X-Amz-Target: Kinesis_20131202.$operation",
        dice.oneOf(Framings)
      )
      head(lines) ++ dice.bytes(dice.below(30))
    case _ => dice.oneOf(Openings) ++ dice.bytes(dice.below(60))
  }

  private def rarely(odd: Vector[String], usual: String): String =
    if (dice.oneIn(25)) dice.oneOf(odd) else usual

  private def chunked(body: Array[Byte]): Array[Byte] =
    body.grouped(1 + dice.below(body.length + 1)).foldLeft(Array.emptyByteArray) { (sofar, part) =>
      sofar ++ latin1(f"${part.length}%x\r\n") ++ part ++ latin1("\r\n")
    } ++ latin1("0\r\n\r\n")
}

private[http] object FuzzedRequests {
  private val Formats = Vector[WireFormat](WireFormat.Json, WireFormat.Cbor)

  private val Authorization =
    "AWS4-HMAC-SHA256 Credential=id/20260101/us-east-1/kinesis/aws4_request, Signature=0"

  private val AdminMethods = Vector("GET", "POST", "POST", "POST", "DELETE", "PUT")

  private val AdminPaths =
    Vector("faults", "faults", "faults/1", "faults/99999999999", "clock", "stats", "health", "none")

  private val AdvanceShape = Shape.Structure(Vector("advance" -> Shape.Whole))

  private val FaultShape = Shape.Structure(
    Seq("fault", "operation", "stream", "shard").map(_ -> Shape.Text).toVector ++
      Seq("times", "rate", "skip", "seed").map(_ -> Shape.Whole)
  )

  private val Methods = Vector("GET", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "BREW")

  private val Paths = Vector("/given", "//", "*", "/?Action=ListStreams", "/%00", "/" + "p" * 3000)

  private val Targets = Vector(
    "",
    "Kinesis_20131202.",
    "Kinesis_20131202.Nothing",
    "Kinesis_20131202.ListStreams.ListStreams",
    "DynamoDB_20120810.ListTables",
    "ListStreams",
    "Kinesis_20131202.ListStreams ",
    "Kinesis_20131202.toString",
    "T" * 5000
  )

  private val ContentTypes = Vector(
    "",
    "text/plain",
    "application/json; charset=utf-16",
    "application/x-amz-cbor-1.1; charset=utf-8",
    "application/x-amz-json-1.1",
    "application/x-amz-cbor-1.1",
    "multipart/form-data; boundary=x"
  )

  private val Authorizations = Vector(
    "",
    "Basic aWQ6a2V5",
    "AWS4-HMAC-SHA256 Credential=id/20260101/eu-west-1/kinesis/aws4_request, Signature=0",
    "AWS4-HMAC-SHA256 Credential=123456789012/20260101/us-east-1/kinesis/aws4_request",
    "AWS4-HMAC-SHA256 Credential=" + "a/" * 1500,
    "AWS4-HMAC-SHA256 Credential=\u00e9/x/y/z"
  )

  private val Extras = Vector(
    "Connection: close",
    "Connection: keep-alive, Upgrade",
    "Accept-Encoding: gzip",
    "Content-Encoding: gzip",
    "Cookie: " + "c" * 4000,
    "X-Long: " + "l" * 20000,
    "X-Amz-Target: Kinesis_20131202.ListStreams",
    "X-Amz-Security-Token: t",
    ": no name",
    "Host: other",
    "Origin: null",
    "Date: never"
  )

  /** Lengths that lie. */
  private val Framings = Vector(
    "Content-Length: 33554432",
    "Content-Length: 9223372036854775807",
    "Content-Length: 99999999999999999999",
    "Content-Length: -1",
    "Content-Length: 5\r\nContent-Length: 6",
    "Content-Length: 5\r\nTransfer-Encoding: chunked",
    "Transfer-Encoding: chunked\r\n\r\n7fffffff",
    "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff",
    "Transfer-Encoding: gzip, chunked\r\n\r\n-1",
    "Expect: 100-continue\r\nContent-Length: 3",
    "Expect: nonsense\r\nContent-Length: 3",
    "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__",
    "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: %%%",
    "Upgrade: websocket"
  )

  private val Openings: Vector[Array[Byte]] = Vector(
    latin1("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    latin1("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") ++
      Array[Byte](0, 0, 0, 4, 0, 0, 0, 0, 0),
    latin1("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") ++
      Array[Byte](-1, -1, -1, 1, 4, 0, 0, 0, 1),
    Array[Byte](0x16, 0x03, 0x01, 0x02, 0x00, 0x01),
    latin1("GET / HTTP/9.9\r\n\r\n"),
    latin1("\r\n\r\n\r\n"),
    latin1("POST"),
    Array.emptyByteArray
  )

  private def head(lines: Seq[String]): Array[Byte] = latin1(lines.mkString("", "\r\n", "\r\n\r\n"))

  private def latin1(text: String): Array[Byte] = text.getBytes(ISO_8859_1)
}
