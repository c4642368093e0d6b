package sparkkinesis.client.aws.wire

import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class EventFallbackSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import EventStreams._

  private def decoded(json: String) = EventFallback.decode(json.getBytes("UTF-8"))

  test("it decodes an event as our decoder does") {
    forAll(anyEvent, anyStyle) { (event, style) =>
      assert(EventFallback.decode(encoded(event, style)) === event.copy(isFallback = true))
    }
  }

  test("unknown members may have any depth and length") {
    val value = "[" * 500 + "1" * 900 + "]" * 500
    assert(decoded(s"""{"a": $value, "Records": [{"SequenceNumber": "1"}]}""").records.size === 1)
  }

  test("a record may have 10 MiB") {
    val data = "A" * (10 * 1024 * 1024 / 3 * 4)
    val event = decoded(s"""{"Records": [{"SequenceNumber": "1", "Data": "$data"}]}""")
    assert(event.records.head.data.length === 10 * 1024 * 1024 / 3 * 3)
  }

  test("texts have their escapes") {
    def key(text: String) =
      decoded(
        s"""{"Records": [{"SequenceNumber": "1", "PartitionKey": "$text"}]}"""
      ).records.head.partitionKey
    assert(key("""a\"b\\c\/d\b\f\n\r\t""") === Some("a\"b\\c/d\b\f\n\r\t"))
    def escapes(codes: String*) = codes.map(code => "\\" + code).mkString
    assert(key(escapes("u006b", "u043b", "ud83d", "udd11-", "u00E9")) === Some("kл🔑-é"))
  }

  test("what is no event is refused, with the reason") {
    def reason(json: String) = intercept[EventFallback.Unreadable](decoded(json)).getMessage
    assert(reason("""{"Records": [{"Data": ""}]}""").contains("it lacks 'SequenceNumber'"))
    assert(reason("""{"Records": [{"SequenceNumber": "x"}]}""").contains("'x' is no number"))
    assert(reason("""{"MillisBehindLatest": "1"}""").contains("'MillisBehindLatest'"))
    assert(reason("""{"MillisBehindLatest": 1e7490575779}""").contains("exponent"))
    assert(reason("""{"ChildShards": [{"ShardId": "a"}]}""").contains("it lacks 'HashKeyRange'"))
    assert(reason("""{"MillisBehindLatest": 1e999999999}""").contains("is too large"))
    assert(reason("""{"Records": {}}""").contains("'Records' is no list"))
    Seq("{", "", "[]", "1", "{} {}", """{"Records": [{"SequenceNumber": "1", "Data": "A"}]}""")
      .foreach { json =>
        assert(reason(json).startsWith("The service has sent an event that"), json)
      }
  }

  test("the reason of an exception is its message") {
    def reason(json: String) = EventFallback.reason(json.getBytes)
    assert(reason("""{"message": "why"}""") === Some("why"))
    assert(reason("""{"message": 1e7490575779}""") === None)
    assert(reason("""{"new": 1, "Message": "why"}""") === Some("why"))
    assert(reason("""{"message": "not \"this\""}""") === Some("not \"this\""))
    assert(reason("{}") === None && reason("") === None)
  }
}
