package sparkkinesis.spark.read.checkpoint

import java.io.FileNotFoundException
import java.nio.charset.StandardCharsets.UTF_8

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileAlreadyExistsException, Path}

import sparkkinesis.model.offset.SourceOffset
import sparkkinesis.source.checkpoint.OffsetCodec

/**
 * Keeps the first offset beside the checkpoint, so that `latest` is decided once. Spark asks for
 * the first offset again if a query restarts before the end of its first batch.
 *
 * @param directory of the source, inside the checkpoint location
 */
private[sparkkinesis] final class InitialOffsetFile(directory: Path, conf: Configuration) {
  private val file = new Path(directory, "initial-offset.json")

  /** The offset in the file. Decides and writes it if the file does not exist. */
  def readOrWrite(decide: => SourceOffset): SourceOffset =
    read().getOrElse {
      write(OffsetCodec.encode(decide))
      // Another run may have written the file first, so its content counts.
      read().getOrElse(
        throw new FileNotFoundException(s"$file is missing right after it was written.")
      )
    }

  /** `None` if the file does not exist. */
  def read(): Option[SourceOffset] = {
    val fs = file.getFileSystem(conf)
    if (!fs.exists(file)) None
    else {
      val in = fs.open(file)
      try Some(OffsetCodec.decode(new String(in.readAllBytes(), UTF_8)))
      finally in.close()
    }
  }

  /** Writes a temporary file and renames it, so that the file is complete or absent. */
  private def write(json: String): Unit = {
    val fs = file.getFileSystem(conf)
    fs.mkdirs(directory)
    val part = new Path(directory, s".initial-offset.${java.util.UUID.randomUUID}.tmp")
    val out = fs.create(part, false)
    try out.write(json.getBytes(UTF_8))
    finally out.close()
    val isRenamed = // checks first, because rename on a local file system replaces a file
      try !fs.exists(file) && fs.rename(part, file)
      catch { case _: FileAlreadyExistsException => false }
    if (!isRenamed) fs.delete(part, false)
  }
}
