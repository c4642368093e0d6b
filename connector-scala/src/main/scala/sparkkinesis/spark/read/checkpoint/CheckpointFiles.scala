package sparkkinesis.spark.read.checkpoint

import java.io.FileNotFoundException
import java.nio.charset.StandardCharsets.UTF_8

import scala.collection.immutable.SortedSet

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import sparkkinesis.compat._
import sparkkinesis.model.offset.SourceOffset
import sparkkinesis.source.checkpoint.{LoggedBatches, LoggedOffsets}

/**
 * Reads the checkpoint of a streaming query, which may be running. Changes nothing.
 *
 * @param location as the user wrote it
 */
private[sparkkinesis] final class CheckpointFiles(location: String, conf: Configuration) {
  import CheckpointFiles._

  private val root = new Path(location)
  private val fs = root.getFileSystem(conf)

  /**
   * The batches whose end is logged.
   *
   * @throws sparkkinesis.shard.SourceException if there is no offset log
   */
  def logged(): LoggedBatches = LoggedBatches(
    location,
    numbered(Offsets).getOrElse(
      throw LoggedOffsets.unreadable(location, s"it has no folder '$Offsets'")
    )
  )

  /** The batches that are complete. */
  def committed(): SortedSet[Long] = numbered(Commits).getOrElse(SortedSet.empty[Long])

  /** The names of the files in a folder. `None` if there is no such folder. */
  private def names(folder: String): Option[Seq[String]] =
    try Some(fs.listStatus(new Path(root, folder)).toSeq.map(_.getPath.getName))
    catch { case _: FileNotFoundException => None }

  /** The files of a folder that have a number as their name. */
  private def numbered(folder: String): Option[SortedSet[Long]] = names(folder).map {
    SortedSet.empty[Long] ++ _.filter(_.matches(Number)).flatMap(_.toLongOption)
  }

  /**
   * The files with the ends of batches after which `spark-kinesis rewind` moved the query, from
   * before the move. Of several moves after one batch, the first one kept its end.
   */
  private lazy val beforeMoves: Map[Long, String] = {
    val files = for {
      move <- names(Rewinds).getOrElse(Nil).sorted.reverse
      folder = s"$Rewinds/$move/$Offsets"
      batch <- numbered(folder).toSeq.flatten
    } yield batch -> s"$folder/$batch"
    files.toMap
  }

  /**
   * Where a batch ended. The next batch began there, unless the query was moved in between.
   *
   * @throws sparkkinesis.shard.SourceException like [[offsets]]
   */
  def end(batch: Long): LoggedOffsets =
    read(beforeMoves.getOrElse(batch, s"$Offsets/$batch"))

  /**
   * Where the query continued after a batch.
   *
   * @throws sparkkinesis.shard.SourceException if Spark has deleted the file meanwhile, or if it
   *   cannot be read
   */
  def offsets(batch: Long): LoggedOffsets = read(s"$Offsets/$batch")

  private def read(file: String): LoggedOffsets = {
    val text =
      try {
        val in = fs.open(new Path(root, file))
        try new String(in.readAllBytes(), UTF_8)
        finally in.close()
      } catch {
        case _: FileNotFoundException => // the query runs, and Spark deletes old files
          throw LoggedOffsets.unreadable(location, s"its file $file was deleted just now")
      }
    LoggedOffsets.parse(location, file, text)
  }

  /**
   * Where the first batch of a source begins.
   *
   * @throws sparkkinesis.shard.SourceException if the file is missing
   */
  def initial(source: String): SourceOffset =
    new InitialOffsetFile(new Path(root, s"sources/$source"), conf).read().getOrElse {
      throw LoggedOffsets.unreadable(
        location,
        s"it lacks the file sources/$source/initial-offset.json, which says where the first " +
          "batch begins"
      )
    }
}

private object CheckpointFiles {
  private val Offsets = "offsets"
  private val Commits = "commits"
  private val Rewinds = "rewinds"

  /** The name of a file that counts. The folder also has temporary files and checksums. */
  private val Number = "\\d+"
}
