package sparkkinesis.spark.deadletter

import java.io.IOException
import java.net.URI

import scala.collection.mutable

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs._
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.util.Progressable

/** The local disk as `trip:///`; it counts what changes or looks at it, and may fail at a call. */
class TrippingFileSystem extends RawLocalFileSystem {
  import TrippingFileSystem.called

  override def getUri: URI = URI.create("trip:///")
  override def getScheme: String = "trip"

  override def create(
      file: Path,
      permission: FsPermission,
      overwrite: Boolean,
      buffer: Int,
      replication: Short,
      block: Long,
      progress: Progressable
  ): FSDataOutputStream = {
    called("create")
    super.create(file, permission, overwrite, buffer, replication, block, progress)
  }

  override def rename(from: Path, to: Path): Boolean = {
    called("rename")
    super.rename(from, to)
  }

  override def delete(path: Path, recursive: Boolean): Boolean = {
    called("delete")
    super.delete(path, recursive)
  }

  override def mkdirs(path: Path): Boolean = {
    called("mkdirs")
    super.mkdirs(path)
  }
}

/** The same as `copy:///`, without an atomic rename: like an object store, it copies each file. */
final class CopyingFileSystem extends TrippingFileSystem {
  override def getUri: URI = URI.create("copy:///")
  override def getScheme: String = "copy"

  override def rename(from: Path, to: Path): Boolean =
    if (getFileStatus(from).isFile) super.rename(from, to)
    else {
      mkdirs(to)
      listStatus(from).foreach { file =>
        TrippingFileSystem.called("copy")
        val target = new Path(to, file.getPath.getName)
        FileUtil.copy(this, file.getPath, this, target, false, getConf)
      }
      delete(from, true)
    }
}

object TrippingFileSystem {
  private val names = mutable.Buffer.empty[String]
  private var left = Option.empty[Int]
  private var interrupts = false

  def conf: Configuration = {
    val conf = new Configuration(false)
    conf.set("fs.trip.impl", classOf[TrippingFileSystem].getName)
    conf.set("fs.copy.impl", classOf[CopyingFileSystem].getName)
    conf
  }

  /** Returns the calls of an action. If `failAfter` is set, the call after so many others fails. */
  def calls(failAfter: Option[Int] = None)(action: => Unit): Seq[String] = synchronized {
    names.clear()
    left = failAfter
    try action
    finally left = None
    names.toVector
  }

  /** Meanwhile a call that fails interrupts its thread, and such a thread can call nothing. */
  def interrupting(action: => Unit): Unit = synchronized {
    interrupts = true
    try action
    finally interrupts = false
  }

  private[deadletter] def called(name: String): Unit = {
    if (interrupts && Thread.currentThread.isInterrupted) throw new IOException("interrupted")
    names += name
    left.filter(_ < names.size).foreach { _ =>
      left = None
      if (interrupts) Thread.currentThread.interrupt()
      throw new IOException(s"$name went wrong")
    }
  }
}
