package sparkkinesis.simulator.record

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Arrays

import sparkkinesis.model.{Record, SequenceNumber}

/**
 * Goes over records where they lie, without an object for each. `advance` comes first; all else is
 * about the record it stands on, and places are indices of `bytes`. For one thread.
 *
 * @param first the position of the first record to come; the first chunk holds it
 */
private[simulator] final class RecordCursor(
    numbers: ShardNumbering,
    chunks: Vector[RecordChunk],
    first: Long,
    end: Long
) {
  private val digits = new SequenceDigits(numbers)
  private var position = first - 1
  private var held = 0

  /** To the next record; false where there is none. */
  def advance(): Boolean = {
    position += 1
    if (held + 1 < chunks.size && chunks(held + 1).first <= position) held += 1
    position < end
  }

  /** Shared, never written to. */
  def bytes: Array[Byte] = chunk.bytes

  /** Of the data and the partition key. */
  def size: Int = chunk.size(index)

  def arrivalMillis: Long = chunk.arrivalMillis(index)

  def hasKey: Boolean = chunk.hasKey(index)

  /** The key is in UTF-8. */
  def keyStart: Int = chunk.keyStart(index)

  def keyLength: Int = chunk.keyLength(index)

  def dataStart: Int = keyStart + keyLength

  def dataLength: Int = size - keyLength

  def encryptionType: Option[String] = chunk.encryptionType(index)

  /** In ASCII, good until the cursor moves. */
  def sequenceNumber: Array[Byte] = digits.of(position, arrivalMillis)

  def record: Record = Record(
    SequenceNumber(new String(sequenceNumber, UTF_8)),
    Option.when(hasKey)(new String(bytes, keyStart, keyLength, UTF_8)),
    Arrays.copyOfRange(bytes, dataStart, dataStart + dataLength),
    arrivalMillis,
    encryptionType
  )

  private def chunk: RecordChunk = chunks(held)

  private def index: Int = (position - chunk.first).toInt
}
