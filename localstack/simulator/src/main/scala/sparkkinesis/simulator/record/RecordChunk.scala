package sparkkinesis.simulator.record

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.atomic.AtomicInteger

/**
 * Records in one array: entries from its start, and the ends of the entries from its back.
 *
 * Written bytes never change: a reader that knows `n` entries always sees those, while more are
 * appended. An entry has the arrival, a head of two bytes, the key and the data.
 *
 * @param first position of the first entry in the shard
 * @param filled number of entries in the buffer
 */
private[simulator] final class RecordChunk private (
    val first: Long,
    buffer: ByteBuffer,
    filled: Int
) {
  import RecordChunk._

  private val count = new AtomicInteger(filled)

  /** The array of all entries. Callers must not change it. */
  def bytes: Array[Byte] = buffer.array

  def capacity: Int = buffer.capacity

  /**
   * Appends an entry after the first `index` ones; false if there is another entry already, or no
   * room.
   */
  def append(index: Int, record: NewRecord): Boolean = {
    val start = startOf(index)
    val end = start + record.size
    val fits = end + (index + 1) * Place <= capacity
    val owned = fits && count.compareAndSet(index, index + 1)
    if (owned) {
      buffer.putLong(start, record.arrivalMillis)
      buffer.putShort(start + Arrival, record.head)
      record.key.foreach(key => buffer.put(start + Head, key))
      buffer.put(end - record.data.length, record.data)
      buffer.putInt(placeOf(index), end)
    }
    owned
  }

  /** A chunk with the first `size` entries and little spare room. */
  def fitted(size: Int): RecordChunk = {
    val end = startOf(size)
    val places = size * Place
    if (capacity - end - places <= capacity / 8) this
    else {
      val copy = ByteBuffer.allocate(end + places)
      copy.put(bytes, 0, end).put(bytes, capacity - places, places)
      new RecordChunk(first, copy, size)
    }
  }

  def arrivalMillis(index: Int): Long = buffer.getLong(startOf(index))

  /** Bytes of data and partition key. */
  def size(index: Int): Int = endOf(index) - startOf(index) - Head

  def hasKey(index: Int): Boolean = (headOf(index) & HasKey) != 0

  def keyStart(index: Int): Int = startOf(index) + Head

  def keyLength(index: Int): Int = headOf(index) & MaxKeyBytes

  def encryptionType(index: Int): Option[String] =
    EncryptionTypes((headOf(index) >>> EncryptionShift) & 3)

  private def startOf(index: Int): Int = if (index == 0) 0 else endOf(index - 1)

  private def endOf(index: Int): Int = buffer.getInt(placeOf(index))

  private def placeOf(index: Int): Int = capacity - (index + 1) * Place

  private def headOf(index: Int): Int = buffer.getShort(startOf(index) + Arrival).toInt
}

private[simulator] object RecordChunk {
  private val Arrival = 8
  private val Head = Arrival + 2
  private val Place = 4
  private val MaxKeyBytes = 0xfff
  private val EncryptionShift = 12
  private val HasKey = 0x4000
  private val EncryptionTypes = Vector(None, Some("NONE"), Some("KMS"))

  /**
   * Largest chunk: less than half of a region of the garbage collector in a small heap, so that it
   * is not a humongous object.
   */
  private val MaxBytes = 256 * 1024
  private val MinBytes = 1024

  /**
   * A chunk with one record, and room for more.
   *
   * @param before capacity of the previous chunk, so that a shard with few records needs little
   */
  def of(first: Long, record: NewRecord, before: Int): RecordChunk = {
    val wanted = math.max(MinBytes, math.min(MaxBytes.toLong, before * 2L).toInt)
    val buffer = ByteBuffer.allocate(math.max(wanted, record.size + Place))
    val chunk = new RecordChunk(first, buffer, 0)
    chunk.append(0, record)
    chunk
  }

  /**
   * A record to append.
   *
   * @param key in UTF-8, at most 4,095 bytes
   * @param encryptionType `NONE`, `KMS` or none
   */
  final class NewRecord(
      val key: Option[Array[Byte]],
      val data: Array[Byte],
      val arrivalMillis: Long,
      encryptionType: Option[String]
  ) {
    private val keyLength = key.fold(0)(_.length)
    private val encryption = EncryptionTypes.indexOf(encryptionType)
    require(keyLength <= MaxKeyBytes, s"A partition key has $keyLength bytes.")
    require(encryption >= 0, s"There is no encryption type ${encryptionType.mkString}.")

    /** Size of the entry. */
    val size: Int = Head + keyLength + data.length

    val head: Short =
      (keyLength | encryption << EncryptionShift | (if (key.isEmpty) 0 else HasKey)).toShort
  }

  object NewRecord {
    def apply(
        partitionKey: Option[String],
        data: Array[Byte],
        arrivalMillis: Long,
        encryptionType: Option[String]
    ): NewRecord =
      new NewRecord(partitionKey.map(_.getBytes(UTF_8)), data, arrivalMillis, encryptionType)
  }
}
