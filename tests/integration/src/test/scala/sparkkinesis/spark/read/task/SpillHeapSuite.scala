package sparkkinesis.spark.read.task

import java.nio.file.{Files, Path, Paths}
import java.util.Comparator
import java.util.concurrent.TimeUnit

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Slow

/** The heap of an executor that keeps a backlog of many times its heap. */
class SpillHeapSuite extends AnyFunSuite {
  private val mega = 1L << 20
  private val shards = 64

  private def measure(heap: Long, pages: Int): Unit = {
    val folder = Files.createTempDirectory("spark-local")
    val modules = sys.props.get("java.class.path").toSeq
    val process = new ProcessBuilder(
      Seq(Paths.get(sys.props("java.home"), "bin", "java").toString, s"-Xmx${heap}m") ++ opened ++
        Seq("-XX:+ExitOnOutOfMemoryError", "-Djava.net.preferIPv4Stack=true", "-cp") ++ modules ++
        Seq("sparkkinesis.spark.read.task.SpillHeap", s"$shards", s"$pages", folder.toString): _*
    ).redirectError(ProcessBuilder.Redirect.INHERIT).start()
    try check(process, heap * mega, pages)
    finally {
      process.destroyForcibly().waitFor()
      val files = Files.walk(folder)
      try files.sorted(Comparator.reverseOrder[Path]).forEach(Files.delete(_))
      finally files.close()
    }
  }

  /** What Spark asks for on this Java; sbt passes it to this JVM. */
  private def opened: Seq[String] = {
    val arguments = java.lang.management.ManagementFactory.getRuntimeMXBean.getInputArguments
    arguments.toArray.toSeq.map(_.toString).filter(_.startsWith("--add-"))
  }

  private def check(process: Process, heap: Long, pages: Int): Unit = {
    val lines = new String(process.getInputStream.readAllBytes()).linesIterator.toSeq
    assert(process.waitFor(8, TimeUnit.MINUTES) && process.exitValue === 0, "out of memory?")
    val numbers = lines.last.split(' ').map(_.toLong)
    val (inMemory, onDisk, live) = (numbers(0), numbers(1), numbers(2))
    info(
      s"heap of ${heap / mega} MB: ${inMemory / mega} MB of pages in memory, ${onDisk / mega} MB " +
        s"on disk, ${live / mega} MB live"
    )
    val bytes = shards.toLong * pages * SyntheticShards.PageRecords * SyntheticShards.RecordBytes
    assert(inMemory + onDisk > bytes && inMemory <= heap / 6)
    assert(live < heap / 6 + 100 * mega, "Scala and Spark need some of it")
    assert(numbers(3) === shards.toLong * pages * SyntheticShards.PageRecords)
    assert(numbers(4) === 0, "pages that could not be read")
  }

  test("a backlog of 1 GB, a heap of 512 MB: all of it is read ahead, and read back in order") {
    measure(heap = 512, pages = 8)
  }

  test("a backlog of 8 GB, a heap of 1 GB", Slow) {
    measure(heap = 1024, pages = 64)
  }
}
