package sparkkinesis.sink.write

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client.PutResult
import sparkkinesis.model.SequenceNumber
import sparkkinesis.sink.lane.{ExpiredRecord, RequestLimits}
import sparkkinesis.sink.{AggregateLimits, DeadLetterOptions, SinkOptions}

/** `onDeliveryTimeout=deadLetter`: which records expire, and which wait on. */
class StreamWriterLateSuite extends AnyFunSuite with StreamWriterFixture {
  private val options: SinkOptions = SinkOptions(
    deliveryTimeout = 30.seconds,
    deadLetters = Some(DeadLetterOptions("letters", keepsLateRecords = true))
  )

  private def newWriter(options: SinkOptions = options): StreamWriter =
    new World(evenShards(1)).writer(options, RequestLimits(2, 1000))

  /** Sends the next two records; the last one gets this answer, and the others are refused. */
  private def answer(writer: StreamWriter, sentAt: Long, at: Long, last: PutResult): Unit = {
    val request = send(writer, sentAt)
    writer.answered(request, request.entries.init.map(_ => throttled) :+ last, at)
  }

  private val written: PutResult = PutResult.Written(id(0), SequenceNumber("7"))

  private def expired(writer: StreamWriter, now: Long): Seq[(String, Int)] =
    writer.checkDeadline(now).map { it: ExpiredRecord =>
      new String(it.entry.data) -> it.attempts
    }

  test("a shard that accepts nothing expires also rows that no request contained") {
    val writer = newWriter()
    Seq("a", "b", "c").foreach(add(writer, "k", _))
    answer(writer, sentAt = 0, at = 10, throttled)
    add(writer, "k", "d", now = 20000)
    assert(expired(writer, 29999) === Nil)
    assert(expired(writer, 30000) === Seq("a" -> 1, "b" -> 1, "c" -> 0))
    assert(expired(writer, 60000) === Nil, "no request contained the other")
  }

  test("a shard that accepts records expires only rows with an attempt of that age") {
    val writer = newWriter()
    Seq("a", "b", "c", "d").foreach(add(writer, "k", _))
    answer(writer, sentAt = 0, at = 10000, written)
    assert(expired(writer, 30000) === Seq("a" -> 1))
    assert(expired(writer, 90000) === Nil)
    answer(writer, sentAt = 90000, at = 90010, throttled)
    assert(expired(writer, 119999) === Nil)
    assert(expired(writer, 120000) === Seq("c" -> 1, "d" -> 1))
  }

  test("a row expires at its own time, also behind rows with a later first attempt") {
    val writer = newWriter()
    Seq("a", "b", "c", "d").foreach(add(writer, "k", _))
    val (first, second) = (send(writer), send(writer, now = 5))
    writer.answered(first, Seq(throttled, throttled), 10)
    writer.answered(second, Seq(throttled, throttled), 20)
    assert(expired(writer, 30000).map(_._1).toSet === Set("a", "b"))
    assert(expired(writer, 30005).map(_._1).toSet === Set("c", "d"))
  }

  test("rows that have just arrived do not expire with the aggregate that they joined") {
    val writer = newWriter(options.copy(aggregation = Some(AggregateLimits())))
    Seq("a", "b").foreach(add(writer, "k", _))
    answer(writer, sentAt = 0, at = 10, throttled)
    Seq("c" -> 0L, "d" -> 20000L).foreach { case (text, at) => add(writer, "k", text, at) }
    assert(expired(writer, 30000) === Seq("a" -> 1, "b" -> 1))
    assert(rows(send(writer, now = 40000)) === Seq("c", "d"))
  }
}
