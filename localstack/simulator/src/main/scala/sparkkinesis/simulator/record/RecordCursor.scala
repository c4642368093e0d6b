package sparkkinesis.simulator.record

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Arrays

import sparkkinesis.model.{Record, SequenceNumber}

/**
 * Reads packed records one by one, without an object per record. Call `advance` first; the other
 * methods describe the current record, and positions are indexes into `bytes`. For one thread.
 *
 * @param first position of the next record, which is in the first chunk
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

  /** Moves to the next record; false if there is none. */
  def advance(): Boolean = {
    position += 1
    if (held + 1 < chunks.size && chunks(held + 1).first <= position) held += 1
    position < end
  }

  /** The array with the current record. Callers must not change it. */
  def bytes: Array[Byte] = chunk.bytes

  /** Bytes of data and partition key. */
  def size: Int = chunk.size(index)

  def arrivalMillis: Long = chunk.arrivalMillis(index)

  def hasKey: Boolean = chunk.hasKey(index)

  /** Index of the first byte of the key, which is in UTF-8. */
  def keyStart: Int = chunk.keyStart(index)

  def keyLength: Int = chunk.keyLength(index)

  def dataStart: Int = keyStart + keyLength

  def dataLength: Int = size - keyLength

  def encryptionType: Option[String] = chunk.encryptionType(index)

  /** The digits in ASCII. The array is valid until the cursor moves. */
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
