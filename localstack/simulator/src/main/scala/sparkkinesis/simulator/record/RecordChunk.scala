package sparkkinesis.simulator.record

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.atomic.AtomicInteger

/**
 * Records side by side in one array: entries from its front, and from its back where each ends.
 *
 * What is written is not written again: whoever knows of `n` entries sees those for ever, while
 * more come behind them. An entry is the arrival, a head of two bytes, the key, the data.
 *
 * @param first the position in the shard of the first entry
 * @param filled how many entries the buffer holds
 */
private[simulator] final class RecordChunk private (
    val first: Long,
    buffer: ByteBuffer,
    filled: Int
) {
  import RecordChunk._

  private val count = new AtomicInteger(filled)

  /** To be read only. */
  def bytes: Array[Byte] = buffer.array

  def capacity: Int = buffer.capacity

  /** Adds an entry behind the first `index`; false where there is another already, or no room. */
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

  /** The first `size` entries without much spare room. */
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

  /** Bytes of the data and the partition key. */
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

  /** Less than half a region of the garbage collector in a small heap: no array of its own kind. */
  private val MaxBytes = 256 * 1024
  private val MinBytes = 1024

  /**
   * A chunk of one record, with room for more.
   *
   * @param before the capacity of the chunk before: a shard of few records takes little
   */
  def of(first: Long, record: NewRecord, before: Int): RecordChunk = {
    val wanted = math.max(MinBytes, math.min(MaxBytes.toLong, before * 2L).toInt)
    val buffer = ByteBuffer.allocate(math.max(wanted, record.size + Place))
    val chunk = new RecordChunk(first, buffer, 0)
    chunk.append(0, record)
    chunk
  }

  /**
   * A record on its way in.
   *
   * @param key in UTF-8, at most 4,095 bytes
   * @param encryptionType `NONE`, `KMS` or nothing
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

    /** Of its entry. */
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
