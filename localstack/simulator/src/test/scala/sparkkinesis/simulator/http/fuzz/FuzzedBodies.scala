package sparkkinesis.simulator.http.fuzz

import java.io.ByteArrayOutputStream
import java.nio.charset.StandardCharsets.{ISO_8859_1, UTF_8}

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

import sparkkinesis.simulator.http.wire.WireFormat

/** Bodies in both formats: nearly valid, broken or hostile. */
private[http] final class FuzzedBodies(dice: Dice, world: FuzzWorld) {
  import FuzzedBodies._

  private val members = new FuzzedMembers(dice, world)

  def next(shape: Shape.Structure, format: WireFormat): Array[Byte] =
    if (dice.oneIn(50)) dice.oneOf(if (format == WireFormat.Json) HurtfulJson else HurtfulCbor)
    else {
      val body = written(members.of(shape), format)
      if (dice.oneIn(4)) mutated(body) else body
    }

  /** The bytes with up to three changes. */
  def mutated(bytes: Array[Byte]): Array[Byte] =
    (0 to dice.below(3)).foldLeft(bytes)((changed, _) => mutatedOnce(changed))

  private def mutatedOnce(bytes: Array[Byte]): Array[Byte] = {
    val at = dice.below(bytes.length + 1)
    val (before, after) = bytes.splitAt(at)
    dice.below(6) match {
      case 0 => before
      case 1 => before ++ after.drop(1 + dice.below(4))
      case 2 => before ++ dice.bytes(1 + dice.below(4)) ++ after
      case 3 => before ++ dice.oneOf(Interesting) ++ after.drop(dice.below(3))
      case 4 => before ++ after.take(dice.below(20)) ++ after
      case _ => before ++ after.take(1).map(b => (b ^ (1 << dice.below(8))).toByte) ++ after.drop(1)
    }
  }
}

private[http] object FuzzedBodies {
  private val mapper = new ObjectMapper()

  def written(body: JsonNode, format: WireFormat): Array[Byte] = {
    val out = new ByteArrayOutputStream()
    val generator = format.generator(out)
    mapper.writeTree(generator, body)
    generator.close()
    out.toByteArray
  }

  private def hex(text: String): Array[Byte] =
    text.grouped(2).map(Integer.parseInt(_, 16).toByte).toArray

  /** Heads of CBOR values that claim far more than follows, tags, breaks; and bits of JSON. */
  private val Claims: Vector[Array[Byte]] = Vector(
    "5a7fffffff",
    "5b7fffffffffffffff",
    "5bffffffffffffffff",
    "7a7fffffff",
    "7b00000000ffffffff",
    "9a7fffffff",
    "9bffffffffffffffff",
    "ba7fffffff",
    "bbffffffffffffffff",
    "5f",
    "7f",
    "9f",
    "bf",
    "ff",
    "c25a7fffffff",
    "c3430fffff",
    "c4821b7fffffffffffffff01",
    "c1fb7ff0000000000000",
    "f97e00",
    "3bffffffffffffffff",
    "d9d9f7",
    "f8ff"
  ).map(hex)

  private val Interesting: Vector[Array[Byte]] = Claims ++
    Vector("\"", "{", "}", "[", "]", ":", ",", "\\ud800", "\\u0000", "1e999999999", "null", "\\")
      .map(_.getBytes(UTF_8)) ++ Vector("fffe", "c0af", "eda080", "00").map(hex)

  private val HurtfulJson: Vector[Array[Byte]] = Vector(
    "",
    "[",
    "{",
    "{}",
    "null",
    "[]",
    "[" * 50000,
    "{\"a\":" * 20000,
    "{\"Limit\":" + "9" * 20000 + "}",
    "{\"Limit\":1e999999999}",
    "{\"Timestamp\":1e999999999,\"StreamName\":\"given\",\"ShardId\":\"shardId-000000000000\"," +
      "\"ShardIteratorType\":\"AT_TIMESTAMP\"}",
    "{\"Timestamp\":" + "9" * 900 + ",\"StreamName\":\"given\"," +
      "\"ShardId\":\"shardId-000000000000\",\"ShardIteratorType\":\"AT_TIMESTAMP\"}",
    "{\"ShardFilter\":{\"Type\":\"AT_TIMESTAMP\",\"Timestamp\":9e18},\"StreamName\":\"given\"}",
    "{\"ShardFilter\":{\"Type\":\"FROM_TIMESTAMP\",\"Timestamp\":-9e15}," +
      "\"StreamName\":\"given\"}",
    "{\"StreamName\":\"" + "\\ud800" * 100 + "\"}",
    "{\"StreamName\":\"" + "a" * 100000 + "\"}",
    "{\"" + "b" * 100000 + "\":1}",
    "{\"StreamName\":\"given\",\"StreamName\":\"other\"}",
    "{\"Data\":\"" + "=" * 1000 + "\",\"StreamName\":\"given\",\"PartitionKey\":\"k\"}",
    "\uFEFF{}",
    "{} {}",
    "/* */{}",
    "NaN"
  ).map(_.getBytes(UTF_8)) :+ "{\"StreamName\":\"\u00ff\u00fe\"}".getBytes(ISO_8859_1)

  private val HurtfulCbor: Vector[Array[Byte]] = Claims ++ Vector(
    Array.fill(50000)(0x81.toByte),
    Array.fill(50000)(0x9f.toByte),
    Array.fill(50000)(0xc1.toByte),
    hex("a1") ++ Array.fill(50000)(0x5f.toByte)
  ) ++ Claims.map(claim => hex("a16444617461") ++ claim) ++
    Claims.map(claim => hex("a1695469") ++ claim) ++
    Claims.map(claim => hex("a1654c696d6974") ++ claim)
}
