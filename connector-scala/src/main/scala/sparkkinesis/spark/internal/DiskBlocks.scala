package org.apache.spark.sparkkinesis

import java.io.InputStream
import java.lang.reflect.{InvocationTargetException, Method}
import java.nio.ByteBuffer
import java.util.UUID
import java.util.concurrent.atomic.AtomicLong

import scala.reflect.ClassTag

import org.apache.spark.SparkEnv
import org.apache.spark.storage.{BlockId, BlockManager, StorageLevel, StreamBlockId}
import org.apache.spark.util.io.ChunkedByteBuffer

/**
 * Bytes in Spark's local directories of this executor. Spark's block manager encrypts them if
 * `spark.io.encryption.enabled` is set, and Spark deletes them when the executor ends. The driver
 * does not learn of these blocks. Every method throws if Spark has stopped or the disk fails.
 */
object DiskBlocks {

  /** Spark's own streams count from zero. */
  private val stream = UUID.randomUUID.hashCode & Int.MaxValue | 0x40000000

  private val next = new AtomicLong

  /** Larger pieces would make the JVM keep a copy of each outside of the heap, per thread. */
  private val PieceBytes = 256 * 1024

  private def manager = SparkEnv.get.blockManager

  private def block(id: Long): BlockId = StreamBlockId(stream, id)

  /** Free space in the fullest of the directories. */
  def freeBytes: Long = manager.diskBlockManager.localDirs.map(_.getUsableSpace).min

  /** Writes the arrays one after the other. Returns the identity of the block. */
  def write(parts: Seq[Array[Byte]]): Long = {
    val pieces = for {
      part <- parts
      begin <- part.indices by PieceBytes
    } yield ByteBuffer.wrap(part, begin, math.min(PieceBytes, part.length - begin)).slice()
    val bytes = new ChunkedByteBuffer(pieces.toArray)
    val id = next.getAndIncrement
    put(block(id), bytes)
    id
  }

  private def put(id: BlockId, bytes: ChunkedByteBuffer): Unit = {
    val values = Seq[AnyRef](id, bytes, StorageLevel.DISK_ONLY, Boolean.box(false))
    try putBytes.invoke(manager, (values ++ defaults :+ ClassTag.Nothing): _*): Unit
    catch { case e: InvocationTargetException => throw e.getCause }
  }

  /**
   * The method to store bytes, found by reflection because Spark 4.3 added parameters with defaults
   * to it.
   */
  private lazy val putBytes: Method = classOf[BlockManager].getMethods
    .find(_.getName == "putBytes")
    .getOrElse(throw new NoSuchMethodError(s"${classOf[BlockManager].getName}.putBytes"))

  /** Default values of the parameters between the four that this code sets and the class tag. */
  private lazy val defaults: Seq[AnyRef] = (5 until putBytes.getParameterCount).map { number =>
    classOf[BlockManager].getMethod(s"putBytes$$default$$$number").invoke(manager)
  }

  /** @return `None` if there is no such block */
  def read[A](id: Long)(read: InputStream => A): Option[A] = {
    val blocks = manager
    blocks.getLocalBytes(block(id)).map { data =>
      try {
        val in = data.toInputStream()
        try read(in)
        finally in.close()
      } finally blocks.releaseLock(block(id))
    }
  }

  def remove(id: Long): Unit = manager.removeBlock(block(id), tellMaster = false)
}
