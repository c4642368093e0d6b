package sparkkinesis.client.aws.wire

import java.util.Base64

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.client.ShardEvent
import sparkkinesis.model.PackedRecords

class EventDecoderSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import EventStreams._

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 500)

  private def decoded(json: Array[Byte]): Option[ShardEvent] =
    EventDecoder.decode(parsed(event(json)))

  private def decoded(json: String): Option[ShardEvent] = decoded(json.getBytes("UTF-8"))

  test("a decoded event equals the one that was encoded") {
    forAll(anyEvent, anyStyle) { (event, style) =>
      assert(decoded(encoded(event, style)) === Some(event))
    }
  }

  test("the records refer to the bytes of the message") {
    val json = """{"Records": [{"SequenceNumber": "1", "Data": "AQID"}]}"""
    val message = parsed(event(json.getBytes))
    val records = PackedRecords(EventDecoder.decode(message).get.records)
    val at = records.dataBegin(0)
    assert(message.bytes.slice(at, at + 3).toSeq === Seq[Byte](1, 2, 3))
    message.bytes(at) = 9
    assert(records.data(0).toSeq === Seq[Byte](9, 2, 3))
  }

  private def data(text: String): Option[Seq[Byte]] =
    decoded(s"""{"Records": [{"SequenceNumber": "1", "Data": "$text"}]}""")
      .map(_.records.head.data.toSeq)

  test("base64 is read as Java reads it, with and without padding and escapes") {
    forAll(Gen.choose(0, 40).flatMap(Gen.listOfN(_, Gen.choose(Byte.MinValue, Byte.MaxValue)))) {
      bytes =>
        val text = Base64.getEncoder.encodeToString(bytes.toArray)
        val spellings = Seq(
          text,
          text.stripSuffix("=").stripSuffix("="),
          text.replace("/", "\\/"),
          text.replace("=", "\\u003d"),
          text.map(char => f"\\u${char.toInt}%04x").mkString
        )
        spellings.foreach(it => assert(data(it) === Some(bytes), it))
    }
    forAll(Gen.choose(0, 9).flatMap(Gen.listOfN(_, Gen.oneOf("AZaz09+/=-é"))).map(_.mkString)) {
      text =>
        val byJava = scala.util.Try(Base64.getDecoder.decode(text.getBytes("UTF-8")).toSeq)
        assert(data(text) === byJava.toOption, text)
    }
  }

  test("texts have their escapes") {
    def key(text: String) =
      decoded(s"""{"Records": [{"SequenceNumber": "1", "PartitionKey": "$text"}]}""")
        .flatMap(_.records.head.partitionKey)
    assert(key("""a\"b\\c\/d\b\f\n\r\t""") === Some("a\"b\\c/d\b\f\n\r\t"))
    def escapes(codes: String*) = codes.map(code => "\\" + code).mkString
    assert(key(escapes("u006b", "u043b", "ud83d", "udd11-", "u00E9")) === Some("kл🔑-é"))
    assert(key(escapes("ud83d-", "udd11")) === Some("?-?"))
    for (before <- 0 to 17; char <- Seq("x", "é"))
      assert(key(char * before + escapes("n") + char * 9) === Some(char * before + "\n" + char * 9))
    Seq("x", "u12g4", "u12", "").foreach(code => assert(key(escapes(code)) === None, code))
  }

  test("numbers have signs, fractions and exponents") {
    def behind(number: String) =
      decoded(s"""{"MillisBehindLatest": $number}""").flatMap(_.millisBehindLatest)
    def arrival(number: String) =
      decoded(s"""{"Records": [{"SequenceNumber": "1", "ApproximateArrivalTimestamp": $number}]}""")
        .map(_.records.head.arrivalMillis)
    Seq("0" -> 0L, "-0" -> 0L, "12" -> 12L, "-12.9" -> -12L, "1.5e3" -> 1500L, "12E-1" -> 1L)
      .foreach { case (text, value) => assert(behind(text) === Some(value), text) }
    Seq("0e999999999" -> 0L, "1e-999999999" -> 0L, "0.00000000000000000001" -> 0L)
      .foreach { case (text, value) => assert(behind(text) === Some(value), text) }
    Seq("1e99", "1e999999999999", "123456789012345678901234", "-", ".", "1e", "1e+", "x", "\"1\"")
      .foreach(text => assert(behind(text) === None, text))
    assert(arrival("1700000000") === Some(1700000000000L))
    assert(arrival("1700000000.1239") === Some(1700000000123L))
    assert(arrival("1.700000000123E9") === Some(1700000000123L))
    assert(arrival("1.70000000012300000000000000E+9") === Some(1700000000123L))
  }

  test("a truncated event, one with more bytes, or one of another structure is malformed") {
    val whole =
      """{"Records": [{"SequenceNumber": "1", "Data": "AQ==", "New": [1, {"a": null}]}]}"""
    assert(decoded(whole).nonEmpty)
    whole.indices.foreach(n => assert(decoded(whole.take(n)) === None, n))
    Seq(" ,", "}", "null").foreach(more => assert(decoded(whole + more) === None, more))
    val broken = Seq(
      """{"a": 1,}""",
      """{"a": 1]""",
      """{"a" 1}""",
      """{a: 1}""",
      """{"a": [1 2]}""",
      """{"a": [1,]}""",
      """{"a": nul}""",
      """{"Records": {}}""",
      """{"Records": [{"Data": ""}]}""",
      """{"Records": [{"SequenceNumber": "x"}]}""",
      """{"Records": [{"SequenceNumber": ""}]}""",
      """{"ContinuationSequenceNumber": "x"}""",
      """{"ChildShards": [{"ShardId": "a"}]}""",
      """{"ChildShards": [{"HashKeyRange": {"StartingHashKey": "2", "EndingHashKey": "1"}}]}""",
      """{"a": """ + "[" * 100 + "]" * 100 + "}"
    )
    broken.foreach(json => assert(decoded(json) === None, json))
  }

  test("bytes that were garbled before the checksum are decoded or malformed, and never fail") {
    val json = Gen.zip(anyEvent, anyStyle).map { case (event, style) => encoded(event, style) }
    forAll(json, Gen.choose(0, 1 << 20), Gen.oneOf("\"\\{}[],:0n=\u0000".map(_.toByte))) {
      (bytes, at, to) =>
        decoded(bytes.updated(at % bytes.length, to)).foreach(_.records.foreach(_.data))
    }
  }

  test("the reason of an exception is its message") {
    def reason(json: String) = EventDecoder.reason(parsed(event(json.getBytes)))
    assert(reason("""{"message": "why"}""") === Some("why"))
    assert(reason("""{"new": 1, "Message": "why"}""") === Some("why"))
    assert(reason("{}") === None && reason("") === None)
  }
}
