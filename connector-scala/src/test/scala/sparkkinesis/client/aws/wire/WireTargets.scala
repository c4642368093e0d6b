package sparkkinesis.client.aws.wire

import java.nio.ByteBuffer
import java.util.zip.CRC32

import scala.annotation.tailrec
import scala.jdk.CollectionConverters._
import scala.util.{Failure, Success, Try}

import org.scalacheck.Gen
import software.amazon.awssdk.services.kinesis.model.PutRecordsRequest

import sparkkinesis.FuzzTarget
import sparkkinesis.client.aws.{AwsConversions, AwsKinesisClient, CannedHttp}
import sparkkinesis.client.{Page, PutResult, ShardEvent, ShardIterator}
import sparkkinesis.model._

/** A page that the decoder accepts is read as the SDK reads it. */
object GetRecordsTarget extends FuzzTarget {
  override val examples: Gen[Array[Byte]] =
    Gen.zip(CborPages.anyPage, Gen.oneOf(true, false), Gen.oneOf(true, false)).map {
      case (page, isSized, hasMore) => CborPages.encoded(page, isSized, hasMore)
    }

  override def fuzzerTestOneInput(bytes: Array[Byte]): Unit =
    GetRecordsDecoder.decode(bytes).foreach { page =>
      http.answer = bytes
      val stream = StreamRef.ByName(StreamName("orders"))
      val other = client.getRecords(stream, ShardIterator("at"), 100)
      assert(comparable(page) == comparable(other), s"$page instead of $other")
    }

  private def comparable(page: Page) =
    (page.records.map(Records.fields), page.next, page.millisBehindLatest, page.children)

  private val http = new CannedHttp
  private lazy val client = new AwsKinesisClient(http.client(), "nowhere", () => ())
}

/** Results that the decoder accepts are read as the SDK reads them. */
object PutRecordsTarget extends FuzzTarget {
  override val examples: Gen[Array[Byte]] =
    Gen.zip(CborResults.anyResults(5), Gen.oneOf(true, false), Gen.oneOf(true, false)).map {
      case (results, isSized, hasMore) => CborResults.encoded(results, isSized, hasMore)
    }

  override def fuzzerTestOneInput(bytes: Array[Byte]): Unit =
    PutRecordsDecoder.decode(bytes).foreach { results =>
      val others = bySdk(bytes)
      assert(results == others, s"$results instead of $others")
    }

  def bySdk(answer: Array[Byte]): Seq[PutResult] = {
    http.answer = answer
    val said = sdk.putRecords(PutRecordsRequest.builder().streamName("orders").build())
    said.records.asScala.map(AwsConversions.putResult).toSeq
  }

  private val http = new CannedHttp
  private lazy val sdk = http.client()
}

/** A stream of events is read the same in one part and in two, or is corrupt. */
object EventStreamTarget extends FuzzTarget {
  override val examples: Gen[Array[Byte]] = for {
    event <- EventStreams.anyEvent
    style <- EventStreams.anyStyle
    message = EventStreams.event(EventStreams.encoded(event, style))
    isRepeated <- Gen.oneOf(true, false)
  } yield if (isRepeated) message ++ EventStreams.initial else message

  override def fuzzerTestOneInput(bytes: Array[Byte]): Unit = {
    val (first, second) = bytes.splitAt(bytes.headOption.fold(0)(_ & 0xff))
    assert(read(bytes) == read(first, second), "the parts matter")
    val whole = message(bytes)
    assert(read(whole) == read(whole.take(bytes.length), whole.drop(bytes.length)))
  }

  /** One message with correct checksums, whose headers are the first bytes. */
  private def message(bytes: Array[Byte]) = {
    val headers = bytes.headOption.fold(0)(_ & 0x7f) min bytes.length
    val out = ByteBuffer.allocate(bytes.length + 16)
    out.putInt(out.capacity).putInt(headers).putInt(checksum(out)).put(bytes)
    out.putInt(checksum(out)).array
  }

  private def checksum(written: ByteBuffer): Int = {
    val sum = new CRC32
    sum.update(written.array, 0, written.position())
    sum.getValue.toInt
  }

  private def read(parts: Array[Byte]*) = {
    val messages = new EventMessages
    @tailrec
    def all(part: ByteBuffer, found: Vector[Seq[Byte]]): Vector[Seq[Byte]] =
      messages.next(part) match {
        case Some(message) => all(part, found :+ message.payload.toSeq)
        case None => found
      }
    try Some(parts.map(ByteBuffer.wrap).flatMap(all(_, Vector.empty)))
    catch { case _: EventMessages.Corrupt => None }
  }
}

/** An event is read as the fallback reads it, or left as it was. */
object EventTarget extends FuzzTarget {
  override val examples: Gen[Array[Byte]] =
    Gen.zip(EventStreams.anyEvent, EventStreams.anyStyle).map { case (event, style) =>
      EventStreams.encoded(event, style)
    }

  override def fuzzerTestOneInput(bytes: Array[Byte]): Unit = {
    val message = new EventMessage(bytes ++ new Array[Byte](4), Map.empty, 0)
    EventFallback.reason(bytes): Unit
    val fallback = Try(EventFallback.decode(bytes))
    fallback.failed.foreach {
      case _: EventFallback.Unreadable => ()
      case e => throw e
    }
    (Try(EventDecoder.decode(message)), fallback) match {
      case (Success(Some(event)), Success(same)) => assert(comparable(event) == comparable(same))
      case (Success(None), _) =>
        assert(message.bytes.dropRight(4).toSeq == bytes.toSeq, "other bytes")
      case (Failure(e), _) if !e.isInstanceOf[EventFallback.Unreadable] => throw e
      case _ => () // the decoder skips what it does not need, and so it accepts more
    }
  }

  private def comparable(event: ShardEvent) = (
    event.records.map(Records.fields),
    event.continuation,
    event.millisBehindLatest,
    event.children
  )
}

private object Records {
  def fields(it: Record): Product =
    (it.sequenceNumber.text, it.partitionKey, it.data.toSeq, it.arrivalMillis, it.encryptionType)
}
