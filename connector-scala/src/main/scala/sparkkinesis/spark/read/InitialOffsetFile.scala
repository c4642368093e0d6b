package sparkkinesis.spark.read

import java.io.FileNotFoundException
import java.nio.charset.StandardCharsets.UTF_8

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileAlreadyExistsException, Path}

import sparkkinesis.model.offset.SourceOffset
import sparkkinesis.source.checkpoint.OffsetCodec

/**
 * Keeps the first offset beside the checkpoint, so that `latest` is decided once: Spark asks for it again
 * whenever a query restarts before its first batch is done.
 *
 * @param directory the source's own, inside the checkpoint location
 */
final class InitialOffsetFile(directory: Path, conf: Configuration) {
  private val file = new Path(directory, "initial-offset.json")

  /** What was decided before, or else what is decided now. */
  def readOrWrite(decide: => SourceOffset): SourceOffset =
    read().getOrElse {
      write(OffsetCodec.encode(decide))
      // Whoever was first has decided.
      read().getOrElse(throw new FileNotFoundException(s"$file was written and is not there."))
    }

  private def read(): Option[SourceOffset] = {
    val fs = file.getFileSystem(conf)
    if (!fs.exists(file)) None
    else {
      val in = fs.open(file)
      try Some(OffsetCodec.decode(new String(in.readAllBytes(), UTF_8)))
      finally in.close()
    }
  }

  /** Whole or not at all: written beside, then renamed. */
  private def write(json: String): Unit = {
    val fs = file.getFileSystem(conf)
    fs.mkdirs(directory)
    val part = new Path(directory, s".initial-offset.${java.util.UUID.randomUUID}.tmp")
    val out = fs.create(part, false)
    try out.write(json.getBytes(UTF_8))
    finally out.close()
    val isRenamed = // looked for first, since a local file system's rename replaces what is there
      try !fs.exists(file) && fs.rename(part, file)
      catch { case _: FileAlreadyExistsException => false }
    if (!isRenamed) fs.delete(part, false)
  }
}
