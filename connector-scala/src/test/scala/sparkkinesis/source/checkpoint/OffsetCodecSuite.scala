package sparkkinesis.source.checkpoint

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Files
import java.time.Instant

import scala.collection.immutable.SortedMap

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.Properties
import sparkkinesis.Repository
import sparkkinesis.model.offset.{Progress, ShardProgress, SourceOffset, StreamOffset}
import sparkkinesis.model.{SequenceNumber, StreamName}
import sparkkinesis.shard.SourceException

class OffsetCodecSuite extends AnyFunSuite with Properties {
  private val created = Instant.parse("2026-01-02T03:04:05Z")
  private val completeAsOf = Instant.parse("2026-01-02T08:00:00.123Z")

  private def offsetOf(shards: (Int, ShardProgress)*) = only(
    StreamOffset(
      arn,
      created,
      SortedMap.from(shards.map { case (id, shard) => shardId(id) -> shard })
    )
  )

  private def at(progress: Progress, waitsFor: Int*) =
    ShardProgress(progress, waitsFor.map(shardId).toSet)

  private def complete(progress: Progress, waitsFor: Int*) =
    at(progress, waitsFor: _*).copy(completeAsOf = Some(completeAsOf))

  private val number = SequenceNumber("49659048151843208164834873923474529478262450846735958018")

  /** One offset per golden file. Each one has another form. */
  private val offsets: Seq[(String, SourceOffset)] = Seq(
    "latest" -> offsetOf(
      0 -> complete(Progress.AtTimestamp(completeAsOf)),
      1 -> complete(Progress.AtTimestamp(completeAsOf))
    ),
    "trim-horizon" -> offsetOf(0 -> at(Progress.TrimHorizon)),
    "reshard" -> offsetOf(
      1 -> complete(Progress.Finished),
      2 -> at(Progress.After(number)),
      3 -> complete(Progress.TrimHorizon, 1),
      4 -> at(Progress.TrimHorizon, 2, 1),
      5 -> complete(Progress.After(number)),
      6 -> at(Progress.AtTimestamp(created)),
      7 -> at(Progress.Finished)
    ),
    "streams" -> SourceOffset.of(
      Seq(arn, arn.copy(region = "us-east-1"), arn.copy(name = StreamName("refunds"))).map { arn =>
        StreamOffset(arn, created, SortedMap(shardId(0) -> at(Progress.After(number))))
      }
    ),
    "positions" -> offsetOf(
      0 -> complete(Progress.From(number)),
      1 -> at(Progress.From(number)),
      2 -> at(Progress.TrimHorizon, 0)
    ),
    "first" -> offsetOf(
      0 -> complete(Progress.After(number)).copy(first = Some(number)),
      1 -> at(Progress.Finished).copy(first = Some(number)),
      2 -> at(Progress.After(number))
    )
  )

  test("golden files are encoded byte for byte, and decoded") {
    offsets.foreach { case (name, offset) =>
      val file = Repository.root.resolve(s"tests/golden/offset-v${OffsetCodec.Version}-$name.json")
      if (sys.env.contains("UPDATE_GOLDEN"))
        Files.write(file, OffsetCodec.encode(offset).getBytes(UTF_8))
      val text = new String(Files.readAllBytes(file), UTF_8)
      assert(OffsetCodec.encode(offset) === text, name)
      assert(OffsetCodec.decode(text) === offset, name)
    }
  }

  test("an encoded offset is decoded unchanged, and equal offsets have equal texts") {
    forAll(offset) { offset =>
      val json = OffsetCodec.encode(offset)
      assert(OffsetCodec.decode(json) === offset)
      assert(OffsetCodec.encode(OffsetCodec.decode(json)) === json)
      assert(!json.contains('\n'), "Spark's offset log keeps a line")
    }
  }

  test("sequence numbers keep their leading zeros") {
    val zeros = offsetOf(0 -> at(Progress.After(SequenceNumber("007"))))
    assert(OffsetCodec.encode(zeros).contains("\"007\""))
  }

  private val good = OffsetCodec.encode(offsetOf(0 -> at(Progress.TrimHorizon)))

  test("a later version is refused, and the error names the version and the remedy") {
    val e = intercept[SourceException](
      OffsetCodec.decode(good.replace("\"version\":1", "\"version\":2"))
    )
    assert(e.condition === "KINESIS_OFFSET_TOO_NEW")
    assert(e.getMessage.contains("version 2") && e.getMessage.contains("reads version 1"))
    assert(e.getMessage.contains("the release that wrote it"))
  }

  private val corrupt = Table(
    ("text", "reason"),
    ("", "not a JSON object"),
    ("0", "not a JSON object"),
    ("[]", "not a JSON object"),
    ("null", "not a JSON object"),
    (good.dropRight(1), "not a JSON object"),
    (good + good, "not a JSON object"),
    (good + "x", "not a JSON object"),
    ("""{"orders":{"0":12,"1":7}}""", "no 'version'"), // Kafka's
    ("""{"logOffset":3}""", "no 'version'"), // the file source's
    (good.replace("\"version\":1", "\"version\":\"1\""), "no 'version'"),
    (good.replace("\"version\":1", "\"version\":0"), "version is 0"),
    (good.replace("stream/orders", "orders"), "orders' is not the ARN of a stream"),
    (good.replace("\"streams\"", "\"stream\""), "'streams' is not an object"),
    (s"""{"version":1,"streams":{"$arn":7}}""", "is not an object"),
    (good.replace("\"created\"", "\"creation\""), "'created' is missing"),
    (good.replace("2026-01-02T03:04:05Z", "yesterday"), "'created' is 'yesterday'"),
    (good.replace("\"shards\"", "\"shard\""), "'shards' is not an object"),
    (good.replace("trim_horizon", "TRIM"), "is 'TRIM'"),
    (good.replace("trim_horizon", ""), "is ''"),
    (good.replace("trim_horizon", "-1"), "is '-1'"),
    (good.replace("trim_horizon", "after:1"), "is 'after:1'"),
    (good.replace("trim_horizon", "trim_horizon@"), "is 'trim_horizon@'"),
    (good.replace("trim_horizon", "trim_horizon@0"), "is 'trim_horizon@0'"),
    (good.replace("trim_horizon", "7@-1"), "is '7@-1'"),
    (good.replace("trim_horizon", "7@8@9"), "is '7@8@9'"),
    (good.replace("trim_horizon", "@7"), "is '@7'"),
    (good.replace("trim_horizon", "at:noon"), "is 'at:noon'"),
    (good.replace("trim_horizon", "from:7x"), "is 'from:7x'"),
    (good.replace("\"trim_horizon\"", "7"), "is '7'"),
    (withWaits("""{"shardId-9":["shardId-1"]}"""), "shardId-9, but 'shards' does not"),
    (withWaits("""{"shardId-000000000000":"x"}"""), "is not a list of shards"),
    (withWaits("""{"shardId-000000000000":[1]}"""), "is not a list of shards"),
    (withWaits("""["shardId-000000000000"]"""), "'waitsFor' is not an object"),
    (withFirst("""{"shardId-9":"7"}"""), "'first' contains shardId-9, but 'shards' does not"),
    (withFirst("""{"shardId-000000000000":7}"""), "is not a sequence number"),
    (withFirst("""{"shardId-000000000000":"x"}"""), "is not a sequence number"),
    (withFirst(""""7""""), "'first' is not an object")
  )

  private def withWaits(json: String): String = withField("waitsFor", json)
  private def withFirst(json: String): String = withField("first", json)

  private def withField(name: String, json: String): String =
    good.dropRight(3) + s""","$name":$json}}}"""

  test("a text that is no offset is refused, and the error shows the reason and the text") {
    forAll(corrupt) { (text, reason) =>
      val e = intercept[SourceException](OffsetCodec.decode(text))
      assert(e.condition === "KINESIS_OFFSET_UNREADABLE")
      assert(e.getMessage.contains(reason) && e.getMessage.contains(text.take(30)))
    }
  }
}
