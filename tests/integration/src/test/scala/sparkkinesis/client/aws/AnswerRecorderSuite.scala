package sparkkinesis.client.aws

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.ISO_8859_1
import java.nio.file.{Files, Path, Paths}

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client.aws.wire._
import sparkkinesis.client.{PutResult, ShardEvent}
import sparkkinesis.simulator.{KinesisServer, LocalClient}

/**
 * Our decoders read recorded answers: those of AWS, once `make record-aws` has stored some, and
 * those that the same recorder gets from the local Kinesis.
 */
class AnswerRecorderSuite extends AnyFunSuite {
  import AnswerRecorderSuite._

  private def answers(folder: Path): Seq[Answer] = {
    val files = Files.list(folder)
    val heads =
      try files.iterator.asScala.filter(_.toString.endsWith(".head")).toVector.sorted
      finally files.close()
    heads.map { head =>
      val name = head.getFileName.toString.stripSuffix(".head")
      Answer(
        name.dropWhile(_ != '-').drop(1),
        Files.readAllLines(head).asScala.toSeq,
        Files.readAllBytes(folder.resolve(s"$name.body"))
      )
    }
  }

  private def events(body: Array[Byte]): Seq[ShardEvent] = {
    val (messages, bytes) = (new EventMessages, ByteBuffer.wrap(body))
    Iterator
      .continually(if (bytes.hasRemaining) messages.next(bytes) else None)
      .takeWhile(_.nonEmpty)
      .flatten
      .filter(_.headers.get(":event-type").contains("SubscribeToShardEvent"))
      .map(it => EventDecoder.decode(it).getOrElse(EventFallback.decode(it.payload)))
      .toVector
  }

  private val account = "arn:[^:]*:kinesis:[^:]*:(\\d+):".r

  private def check(all: Seq[Answer]): Unit = {
    val bodies = all.map(it => new String(it.body, ISO_8859_1))
    assert(bodies.flatMap(account.findAllMatchIn(_)).map(_.group(1)).toSet === Set("123456789012"))
    def of(operation: String) = all.filter(it => it.operation == operation && it.isOk)
    val pages = of("GetRecords").map(it => GetRecordsDecoder.decode(it.body).get)
    assert(pages.exists(_.records.nonEmpty) && pages.exists(_.children.nonEmpty))
    val keys = pages.flatMap(_.records).flatMap(_.partitionKey).toSet
    assert(Set("plain", "{\"id\": \"quoted\\\"\"}", "ключ-🔑").subsetOf(keys))
    val puts = of("PutRecords").map(it => PutRecordsDecoder.decode(it.body).get)
    assert(puts.flatten.exists(_.isInstanceOf[PutResult.Written]))
    val pushed = of("SubscribeToShard").flatMap(it => events(it.body))
    assert(pushed.exists(_.continuation.isEmpty), "the end of the shard")
    assert(pushed.exists(!_.isFallback), "only keys with quotes need the fallback")
    val refused = all.filterNot(_.isOk).map(_.operation).toSet
    assert(Set("DescribeStreamSummary", "GetRecords", "PutRecords").subsetOf(refused))
  }

  test("answers of the local Kinesis") {
    val folder = Files.createTempDirectory("answers")
    val server = KinesisServer.start()
    try {
      val recorder = new AnswerRecorder(LocalClient.config(server.endpoint), folder)
      try recorder.record()
      finally recorder.close()
    } finally server.close()
    check(answers(folder))
  }

  private val recorded = Paths.get("tests/golden/aws")

  if (Files.exists(recorded)) test("answers of AWS")(check(answers(recorded)))
}

private object AnswerRecorderSuite {

  /** @param head status and headers */
  final case class Answer(operation: String, head: Seq[String], body: Array[Byte]) {
    def isOk: Boolean = head.head == "200"
  }
}
