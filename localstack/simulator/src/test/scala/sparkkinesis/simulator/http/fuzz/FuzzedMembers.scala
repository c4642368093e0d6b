package sparkkinesis.simulator.http.fuzz

import java.math.BigInteger
import java.nio.charset.StandardCharsets.UTF_8
import java.util.Base64

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.{JsonNodeFactory, ObjectNode}

/** Requests that are valid or nearly: most members fit, some are odd. */
private[http] final class FuzzedMembers(dice: Dice, world: FuzzWorld) {
  import FuzzedMembers._

  /** On average one of so many values is odd. */
  private val Oddness = 12

  def of(shape: Shape.Structure): ObjectNode = {
    val node = nodes.objectNode()
    shape.members.foreach { case (name, member) =>
      if (!dice.oneIn(if (name.endsWith("ARN")) 2 else 5))
        node.set[JsonNode](name, value(name, member))
    }
    if (dice.oneIn(40)) node.set[JsonNode](dice.oneOf(Words), odd())
    node
  }

  private def value(name: String, shape: Shape): JsonNode =
    if (dice.oneIn(Oddness)) odd()
    else
      shape match {
        case Shape.Text => nodes.textNode(text(name))
        case Shape.Whole => nodes.numberNode(dice.oneOf(Wholes))
        case Shape.Time => nodes.numberNode(dice.oneOf(Times))
        case Shape.Blob => nodes.binaryNode(dice.bytes(dice.below(20)))
        case Shape.Flag => nodes.booleanNode(dice.oneIn(2))
        case Shape.Many(element) =>
          val list = nodes.arrayNode()
          (0 until dice.below(4)).foreach(_ => list.add(value(name, element)))
          list
        case Shape.Named(element) =>
          val map = nodes.objectNode()
          (0 until dice.below(4))
            .foreach(_ => map.set[JsonNode](dice.oneOf(Words), value(name, element)))
          map
        case structure: Shape.Structure => of(structure)
      }

  private def text(name: String): String = name match {
    case "ConsumerARN" => s"${dice.oneOf(world.arns)}/consumer/${dice.oneOf(Words)}:1767225600"
    case "fault" => dice.oneOf(world.faults)
    case "operation" => dice.oneOf(world.operations)
    case "shard" => dice.oneOf(world.shards)
    case "stream" | "StreamName" | "ExclusiveStartStreamName" => dice.oneOf(world.streams)
    case "ShardIterator" => token(world.iterators)
    case "NextToken" => token(world.pageTokens)
    case arn if arn.endsWith("ARN") => dice.oneOf(world.arns)
    case shard if shard.endsWith("ShardId") || shard.contains("ShardTo") => dice.oneOf(world.shards)
    case number if number.endsWith("SequenceNumber") => dice.oneOf(world.numbers)
    case key if key.endsWith("HashKey") => new BigInteger(128, random).toString
    case _ => dice.oneOf(Words)
  }

  /** A token as it was handed out, or with another field inside. */
  private def token(known: Vector[String]): String =
    if (known.isEmpty || dice.oneIn(8)) dice.oneOf(Words)
    else if (dice.oneIn(2)) dice.oneOf(known)
    else {
      val fields = new String(Base64.getDecoder.decode(dice.oneOf(known)), UTF_8).split('|')
      fields(dice.below(fields.length)) = dice.oneOf(TokenFields)
      Base64.getEncoder.encodeToString(fields.mkString("|").getBytes(UTF_8))
    }

  private def odd(): JsonNode = dice.below(10) match {
    case 0 => nodes.nullNode()
    case 1 => nodes.textNode(dice.oneOf(OddTexts))
    case 2 => nodes.numberNode(dice.oneOf(OddWholes))
    case 3 => nodes.numberNode(dice.oneOf(OddFractions))
    case 4 => nodes.booleanNode(dice.oneIn(2))
    case 5 => nodes.arrayNode().add(1).add("x")
    case 6 => nodes.objectNode().put("Type", "AT_LATEST")
    case 7 => nodes.binaryNode(dice.bytes(dice.below(40)))
    case 8 => nested(if (dice.oneIn(50)) 900 else dice.below(20))
    case _ => nodes.numberNode(dice.long())
  }

  private def nested(depth: Int): JsonNode = (0 until depth).foldLeft[JsonNode](nodes.nullNode()) {
    (inner, i) =>
      if (i % 2 == 0) nodes.arrayNode().add(inner)
      else {
        val outer = nodes.objectNode()
        outer.set[JsonNode]("a", inner)
        outer
      }
  }

  private def random: java.util.Random = new java.util.Random(dice.long())
}

private[http] object FuzzedMembers {
  private val nodes = JsonNodeFactory.instance

  /** Names that some member or other may have for its value, and plain words. */
  private val Words = Vector(
    "TRIM_HORIZON",
    "LATEST",
    "AT_TIMESTAMP",
    "AT_SEQUENCE_NUMBER",
    "AFTER_SEQUENCE_NUMBER",
    "AT_TRIM_HORIZON",
    "FROM_TRIM_HORIZON",
    "AT_LATEST",
    "FROM_TIMESTAMP",
    "AFTER_SHARD_ID",
    "UNIFORM_SCALING",
    "ON_DEMAND",
    "PROVISIONED",
    "KMS",
    "NONE",
    "AUTO",
    "USER_PARTITION_KEY",
    "ALL",
    "IncomingBytes",
    "alias/aws/kinesis",
    "given",
    "StreamName",
    "consumer",
    "key"
  )

  private val Wholes = Vector(1, 1, 2, 3, 4, 5, 10, 24, 48, 100, 1024, 10000)

  private val Times = Vector(1767225600L, 1767225600000L, 0L, 1L, -1L)

  private val OddTexts = Vector(
    "",
    " ",
    "\u0000",
    "a" * 129,
    "x" * 2000,
    "a/b",
    "鍵🔑",
    "-1",
    "1e400",
    "9" * 400,
    "340282366920938463463374607431768211456",
    "arn:aws:kinesis:us-east-1:000000000000:stream/",
    "arn:aws:kinesis:us-east-1:000000000000:stream/given/consumer/",
    "arn:aws:kinesis:us-east-1:000000000000:stream/given/consumer/c:99999999999999999999",
    "shardId-99999999999999999999",
    "NaN"
  )

  private val OddWholes: Vector[BigInteger] = Vector(
    BigInteger.ZERO,
    BigInteger.ONE.negate,
    BigInteger.valueOf(Int.MaxValue.toLong),
    BigInteger.valueOf(Int.MinValue.toLong),
    BigInteger.valueOf(Int.MaxValue.toLong + 1),
    BigInteger.valueOf(Long.MaxValue),
    BigInteger.valueOf(Long.MinValue),
    BigInteger.TEN.pow(100)
  )

  private val OddFractions =
    Vector(0.5, -0.5, 1e308, -1e308, 1e-308, Double.NaN, Double.PositiveInfinity)

  private val TokenFields = Vector(
    "",
    "-1",
    "0",
    "9223372036854775807",
    "-9223372036854775808",
    "1000000000000",
    "+1000000000-12-31T23:59:59.999999999Z",
    "-1000000000-01-01T00:00:00Z",
    "1970-01-01T00:00:00Z",
    "AT_TIMESTAMP",
    "AFTER_SHARD_ID",
    "shardId-000000000000",
    "no shard",
    "arn:aws:kinesis:us-east-1:000000000000:stream/other",
    "x" * 500
  )
}
