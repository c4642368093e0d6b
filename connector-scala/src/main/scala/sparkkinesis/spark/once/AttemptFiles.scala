package sparkkinesis.spark.once

import java.io.FileNotFoundException
import java.nio.charset.StandardCharsets.UTF_8

import scala.util.control.NonFatal

import org.apache.hadoop.fs.{FileSystem, Path}

/** The small files of a log of attempts. */
private[once] final class AttemptFiles(files: FileSystem, folder: Path) {
  import AttemptFiles._

  /** The attempts, in rising order. */
  def list(): Seq[Entry] =
    try
      files
        .listStatus(folder)
        .toVector
        .flatMap(it => Attempt.numberOf(it.getPath.getName).map(Entry(_, it.getPath)))
        .sortBy(_.number)
    catch { case _: FileNotFoundException => Vector.empty }

  /** `None` if the file is incomplete. */
  def attempt(entry: Entry): Option[Attempt] = Attempt.parse(entry.number, read(entry.path))

  /** `None` if there is no such file. */
  def text(path: Path): Option[String] =
    try Some(read(path))
    catch { case _: FileNotFoundException => None }

  private def read(path: Path): String = {
    val in = files.open(path)
    try new String(in.readAllBytes(), UTF_8)
    finally in.close()
  }

  def write(name: String, text: String, overwrite: Boolean): Unit = {
    files.mkdirs(folder)
    val out = files.create(new Path(folder, name), overwrite)
    try out.write(text.getBytes(UTF_8))
    finally out.close()
  }

  /** An old file does no harm. */
  def delete(entry: Entry): Unit =
    try files.delete(entry.path, false): Unit
    catch { case NonFatal(e) => log.warn(s"Could not delete the old file ${entry.path}.", e) }
}

private[once] object AttemptFiles {
  private val log = org.slf4j.LoggerFactory.getLogger(classOf[AttemptFiles])

  /** A file of an attempt. */
  final case class Entry(number: Long, path: Path)
}
