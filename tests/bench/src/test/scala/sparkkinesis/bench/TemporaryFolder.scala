package sparkkinesis.bench

import java.io.File
import java.nio.file.{Files, Path}
import java.util.Comparator

/** Goes with all that is in it. */
final class TemporaryFolder extends AutoCloseable {
  val path: Path = Files.createTempDirectory("spark-kinesis-bench-test")

  def newFolder(): Path = Files.createTempDirectory(path, "in")

  override def close(): Unit = {
    val all = Files.walk(path)
    try
      all.sorted(Comparator.reverseOrder[Path]).map[File](_.toFile).forEach { f => f.delete(); () }
    finally all.close()
  }
}
