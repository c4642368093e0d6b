package sparkkinesis.client.aws.wire

import java.nio.ByteBuffer
import java.util.UUID

import scala.collection.mutable

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import software.amazon.eventstream.HeaderValue

import sparkkinesis.Properties

class EventMessagesSuite extends AnyFunSuite with Properties {
  import EventMessages.Corrupt
  import EventStreams._

  private val anyMessage: Gen[Array[Byte]] = for {
    headers <- Gen.choose(0, 3).flatMap(Gen.listOfN(_, Gen.zip(Gen.alphaStr, Gen.alphaNumStr)))
    size <- Gen.oneOf(0, 1, 11, 12, 13, 300, 70000)
  } yield message(
    Array.tabulate(size)(_.toByte),
    headers.filter(it => it._1.nonEmpty && it._2.nonEmpty).take(3): _*
  )

  private def comparable(it: EventMessage) =
    (it.headers, it.bytes.slice(it.payloadBegin, it.payloadEnd).toSeq)

  /** The messages of a body that arrives in parts of these sizes, again and again. */
  private def read(body: Array[Byte], sizes: Seq[Int]) = {
    val messages = new EventMessages
    val found = mutable.Buffer.empty[EventMessage]
    var at = 0
    Iterator.continually(sizes).flatten.takeWhile(_ => at < body.length).foreach { size =>
      val part = ByteBuffer.wrap(body, at, math.min(size, body.length - at))
      at += part.remaining
      while (part.hasRemaining) found ++= messages.next(part)
    }
    (found.map(comparable).toSeq, messages.isWithin)
  }

  test("a body has the same messages, however it is cut") {
    val sizes =
      Gen.nonEmptyListOf(Gen.frequency(3 -> Gen.choose(1, 20), 1 -> Gen.choose(1, 100000)))
    forAll(Gen.choose(0, 4).flatMap(Gen.listOfN(_, anyMessage)), sizes) { (all, sizes) =>
      val body = all.toArray.flatten
      val (found, isWithin) = read(body, sizes)
      assert(found === all.map(it => comparable(parsed(it))) && !isWithin)
    }
  }

  test("each cut of two messages gives both") {
    val body = message("abc".getBytes, "a" -> "b") ++ message(Array.empty)
    (1 until body.length).foreach { cut =>
      assert(read(body, Seq(cut, body.length))._1.size === 2, cut)
    }
  }

  test("the end within a message is known") {
    val body = message("abc".getBytes)
    body.indices.drop(1).foreach(n => assert(read(body.take(n), Seq(n)) === ((Nil, true)), n))
  }

  test("the payload and the headers of all types are those that were sent") {
    val bytes = ofValues(
      "payload".getBytes,
      "true" -> HeaderValue.fromBoolean(true),
      "int" -> HeaderValue.fromInteger(1),
      "long" -> HeaderValue.fromLong(1),
      "bytes" -> HeaderValue.fromByteArray(Array(1, 2, 3)),
      "text" -> HeaderValue.fromString("ключ"),
      "time" -> HeaderValue.fromTimestamp(java.time.Instant.EPOCH),
      "uuid" -> HeaderValue.fromUuid(new UUID(1, 2)),
      "false" -> HeaderValue.fromBoolean(false)
    )
    val found = parsed(bytes)
    assert(found.headers === Map("text" -> "ключ"))
    assert(comparable(found)._2 === "payload".getBytes.toSeq)
  }

  test("a bit that has changed is found") {
    val body = message("abc".getBytes, "name" -> "text")
    for (at <- body.indices; bit <- 0 to 7) {
      val garbled = body.updated(at, (body(at) ^ 1 << bit).toByte)
      intercept[Corrupt](read(garbled, Seq(garbled.length)))
    }
  }

  private def prelude(length: Int, headers: Int): Array[Byte] = {
    val bytes = ByteBuffer.allocate(EventMessage.PreludeBytes).putInt(length).putInt(headers)
    val sum = new java.util.zip.CRC32
    sum.update(bytes.array, 0, 8)
    bytes.putInt(sum.getValue.toInt).array
  }

  test("a length that no message has is refused before there is memory for it") {
    val most = 24 * 1024 * 1024
    for ((length, headers) <- Seq(15 -> 0, 16 -> 1, -1 -> 0, Int.MaxValue -> 0, 17 + most -> 0)) {
      val refused = intercept[Corrupt](read(prelude(length, headers), Seq(12)))
      assert(refused.getMessage.contains(s"${length & 0xffffffffL} bytes"))
    }
    for (headers <- Seq(-1, 128 * 1024 + 1)) {
      val refused = intercept[Corrupt](read(prelude(1 << 20, headers), Seq(12)))
      assert(refused.getMessage.contains(s"headers of ${headers & 0xffffffffL} bytes"))
    }
    assert(read(prelude(16 + most, 0), Seq(12)) === ((Nil, true)))
  }

  private def withHeaders(headers: Int*) = {
    val length = 16 + headers.length
    val bytes = ByteBuffer.allocate(length)
    bytes.put(prelude(length, headers.length)).put(headers.map(_.toByte).toArray)
    val sum = new java.util.zip.CRC32
    sum.update(bytes.array, 0, length - 4)
    bytes.putInt(sum.getValue.toInt).array
  }

  test("headers of one and two bytes are skipped, which AWS's library does not write") {
    assert(
      parsed(withHeaders(1, 'a', 2, 9, 1, 'b', 3, 9, 9, 1, 'c', 7, 0, 1, 'd')).headers === Map(
        "c" -> "d"
      )
    )
  }

  test("headers that do not fit are malformed") {
    val malformed: Seq[Seq[Int]] =
      Seq(Seq(5), Seq(1, 'a', 7, 0, 9), Seq(1, 'a', 10), Seq(1, 'a', 200), Seq(1, 'a', 4, 1))
    malformed.foreach(headers => intercept[Corrupt](parsed(withHeaders(headers: _*))))
  }
}
