package sparkkinesis.model.aggregate

import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest
import java.util.Arrays

import sparkkinesis.model.{HashKey, PutEntry}

/**
 * A Kinesis record without a user record: an aggregate with an entry in its table of partition keys
 * and no sub-record. Consumers that deaggregate find nothing in it.
 */
object AggregateMarker {
  private val data: Array[Byte] = {
    val message = new ProtobufWriter
    message.varint(AggregateReader.PartitionKeyTag)
    message.span("spark-kinesis-marker".getBytes(UTF_8))
    val bytes = new Array[Byte](message.length)
    message.copyTo(bytes, 0)
    AggregateReader.Mark ++ bytes ++ MessageDigest.getInstance("MD5").digest(bytes)
  }

  /** A marker for the shard that has this hash key. */
  def entry(hashKey: HashKey): PutEntry =
    PutEntry(AggregateBuilder.PartitionKey, data, Some(hashKey))

  /** Whether these bytes are a marker. */
  def is(bytes: Array[Byte], begin: Int, length: Int): Boolean =
    length == data.length && Arrays.equals(bytes, begin, begin + length, data, 0, length)
}
