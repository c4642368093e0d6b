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
      val found = decoded(encoded(event, style))
      assert(found === Some(event) || found.isEmpty && hasEscapes(event, style))
    }
  }

  private def hasEscapes(event: ShardEvent, style: Style) =
    encoded(event, style).contains('\\'.toByte)

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
    try
      decoded(s"""{"Records": [{"SequenceNumber": "1", "Data": "$text"}]}""")
        .map(_.records.head.data.toSeq)
    catch { case _: EventFallback.Unreadable => None }

  test("base64 is read as Java reads it, with and without padding") {
    forAll(Gen.choose(0, 40).flatMap(Gen.listOfN(_, Gen.choose(Byte.MinValue, Byte.MaxValue)))) {
      bytes =>
        val text = Base64.getEncoder.encodeToString(bytes.toArray)
        Seq(text, text.stripSuffix("=").stripSuffix("=")).foreach(it =>
          assert(data(it) === Some(bytes), it)
        )
    }
    forAll(Gen.choose(0, 9).flatMap(Gen.listOfN(_, Gen.oneOf("AZaz09+/=-é"))).map(_.mkString)) {
      text =>
        val byJava = scala.util.Try(Base64.getDecoder.decode(text.getBytes("UTF-8")).toSeq)
        assert(data(text) === byJava.toOption, text)
    }
  }

  test("an event with an escape is left to the fallback, with the bytes as they were") {
    for (before <- 0 to 17; escape <- Seq("\\n", "\\u006b", "\\/")) {
      val key = "x" * before + escape + "y"
      val records = s"""[{"Data": "AQID", "SequenceNumber": "1", "PartitionKey": "$key"}]"""
      val message = parsed(event(s"""{"Records": $records}""".getBytes))
      val bytes = message.bytes.clone()
      assert(EventDecoder.decode(message) === None)
      assert(message.bytes.toSeq === bytes.toSeq)
    }
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
    assert(arrival("1.70000000012300E+9") === Some(1700000000123L))
    assert(arrival("1.70000000012300000000000000E+9") === None, "too many digits")
  }

  test("members that the service may add are skipped, however large or deep they are") {
    Seq("9" * 400, "-0.5E+99999", "12345678901234567890", "[" * 60 + "]" * 60).foreach { value =>
      val json = s"""{"a": $value, "Records": [{"b": $value, "SequenceNumber": "1"}]}"""
      assert(decoded(json).map(_.records.size) === Some(1), value)
    }
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
      """{"a": """ + "[" * 100 + "]" * 100 + "}",
      """{"a": -}""",
      """{"a": 1x}"""
    )
    broken.foreach(json => assert(decoded(json) === None, json))
  }

  test(
    "bytes that were garbled before the checksum are decoded, left as they were, or refused"
  ) {
    val json = Gen.zip(anyEvent, anyStyle).map { case (event, style) => encoded(event, style) }
    forAll(json, Gen.choose(0, 1 << 20), Gen.oneOf("\"\\{}[],:0n=\u0000".map(_.toByte))) {
      (bytes, at, to) =>
        val message = parsed(event(bytes.updated(at % bytes.length, to)))
        val before = message.bytes.clone()
        try
          EventDecoder.decode(message) match {
            case Some(event) => event.records.foreach(_.data)
            case None => assert(message.bytes.toSeq === before.toSeq)
          }
        catch { case _: EventFallback.Unreadable => () }
    }
  }
}
