package sparkkinesis.source.simulation

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Repository

/** The simulations of queries drive the real decisions, and decide nothing in their place. */
class ImportsSuite extends AnyFunSuite {
  private val folder = Repository.root.resolve(
    "tests/integration/src/test/scala/sparkkinesis/source/simulation"
  )

  /** What they may use of the rooms in which decisions are made. */
  private val allowed = Map(
    "plan" -> Set("ExecutorTable"), // the length of a tick
    "watch" -> Set.empty[String],
    "checkpoint" -> Set("OffsetCodec", "QueryStream"), // Spark logs text; how a query begins
    "fetch" -> Set("FetchCommand", "FetchLoop", "FetchedPage", "ShardFetcher"),
    "feed" -> Set("FeedCounts", "ReadStep", "ShardRangeReader") // by which a task reads
  )

  private def files: Seq[Path] =
    Files.walk(folder).iterator.asScala.filter(_.toString.endsWith(".scala")).toSeq.sorted

  test("simulations use no planner, no audit and no copy of a decision") {
    val imported = """import sparkkinesis\.(?:source|shard)\.(\w+)\.(?:\{([^}]*)\}|(\S+))""".r
    val used = for {
      file <- files
      found <- imported.findAllMatchIn(Files.readString(file, UTF_8))
      names = Option(found.group(2)).getOrElse(found.group(3)).split(",").map(_.trim).toSet
      most <- allowed.get(found.group(1)).toSeq
      other <- names.diff(most)
    } yield s"${file.getFileName} uses ${found.group(1)}.$other"
    assert(used.isEmpty, used.mkString("\n", "\n", ""))
    assert(files.size > 10)
  }
}
