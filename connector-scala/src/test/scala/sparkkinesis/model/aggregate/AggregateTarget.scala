package sparkkinesis.model.aggregate

import org.scalacheck.Gen

import sparkkinesis.FuzzTarget
import sparkkinesis.KplAggregates.{message, subRecords, wrapped}

/** A message with a correct MD5 is read as Google's reader of protobuf reads it. */
object AggregateTarget extends FuzzTarget {
  override val examples: Gen[Array[Byte]] = subRecords.map(message)

  override def fuzzerTestOneInput(bytes: Array[Byte]): Unit = {
    SubRecords.read(bytes): Unit
    val found = SubRecords.read(wrapped(bytes))
    if (!hasLongNumbers(bytes)) {
      val expected = ProtobufOracle.read(bytes)
      assert(found == expected, s"$found instead of $expected")
    }
  }

  /** Google's reader drops what a length has beyond 32 bits; we do not believe such a length. */
  def hasLongNumbers(message: Array[Byte]): Boolean =
    message.indices.exists(i => message.slice(i, i + 4).count(_ < 0) == 4)
}
