package sparkkinesis

import java.io.ByteArrayOutputStream
import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest

import org.scalacheck.Gen

/**
 * Aggregates in the format of the Kinesis Producer Library, for tests. Written from the description
 * of the format, and independent of the main code.
 */
object KplAggregates {

  /** @param explicitHashKey any text, as in the format */
  final case class SubRecord(
      partitionKey: String,
      data: Vector[Byte],
      explicitHashKey: Option[String] = None
  )

  val Mark: Array[Byte] = Array(0xf3, 0x89, 0x9a, 0xc2).map(_.toByte)

  /** The data of the Kinesis record. */
  def apply(records: Seq[SubRecord]): Array[Byte] = wrapped(message(records))

  /** Mark, message, its MD5. */
  def wrapped(message: Array[Byte]): Array[Byte] =
    Mark ++ message ++ MessageDigest.getInstance("MD5").digest(message)

  /** Both tables, each key once, then the records. */
  def message(records: Seq[SubRecord]): Array[Byte] = {
    val (keys, hashKeys) = tables(records)
    joined(
      keys.map(key => bytesField(1, key.getBytes(UTF_8))) ++
        hashKeys.map(key => bytesField(2, key.getBytes(UTF_8))) ++
        parts(records).map(fields => bytesField(3, joined(fields)))
    )
  }

  def tables(records: Seq[SubRecord]): (Seq[String], Seq[String]) =
    (records.map(_.partitionKey).distinct, records.flatMap(_.explicitHashKey).distinct)

  /** The fields of each record. */
  def parts(records: Seq[SubRecord]): Seq[Seq[Array[Byte]]] = {
    val (keys, hashKeys) = tables(records)
    val (keyAt, hashKeyAt) = (keys.zipWithIndex.toMap, hashKeys.zipWithIndex.toMap)
    records.map { record =>
      Seq(numberField(1, keyAt(record.partitionKey).toLong)) ++
        record.explicitHashKey.map(key => numberField(2, hashKeyAt(key).toLong)) :+
        bytesField(3, record.data.toArray)
    }
  }

  def numberField(field: Int, value: Long): Array[Byte] = varint(field.toLong << 3) ++ varint(value)

  def bytesField(field: Int, value: Array[Byte]): Array[Byte] =
    varint(field.toLong << 3 | 2) ++ varint(value.length.toLong) ++ value

  /** Ten bytes for what is negative. */
  def varint(value: Long): Array[Byte] =
    if ((value & ~0x7fL) == 0) Array(value.toByte)
    else (value & 0x7f | 0x80).toByte +: varint(value >>> 7)

  def joined(parts: Seq[Array[Byte]]): Array[Byte] = {
    val all = new ByteArrayOutputStream
    parts.foreach(all.writeBytes)
    all.toByteArray
  }

  /** Few keys for many records, as in life, some of them outside of ASCII. */
  val subRecord: Gen[SubRecord] = for {
    key <- Gen.frequency(
      4 -> Gen.oneOf("a", "customer 7", "ключ", "🔑"),
      1 -> Generators.partitionKey
    )
    data <- Gen.choose(0, 40).flatMap(Gen.listOfN(_, Gen.choose(Byte.MinValue, Byte.MaxValue)))
    hashKey <- Gen.option(Gen.oneOf(Gen.const("0"), Generators.hashKey.map(_.toString)))
  } yield SubRecord(key, data.toVector, hashKey)

  /** At least one. */
  val subRecords: Gen[Vector[SubRecord]] =
    Gen.choose(1, 30).flatMap(Gen.listOfN(_, subRecord)).map(_.toVector)
}
