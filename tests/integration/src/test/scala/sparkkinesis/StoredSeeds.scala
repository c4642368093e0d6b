package sparkkinesis

import java.nio.file.Files

import scala.jdk.CollectionConverters._

/** The seeds that once found a defect, from `tests/golden/seeds.txt`. */
object StoredSeeds {
  private val Line = """(\w+) (-?\d+)(?: *#.*)?""".r

  private lazy val all: Map[String, Vector[Long]] = Files
    .readAllLines(Repository.root.resolve("tests/golden/seeds.txt"))
    .asScala
    .toVector
    .filterNot(_.startsWith("#"))
    .map {
      case Line(suite, seed) => suite -> seed.toLong
      case line => throw new IllegalArgumentException(s"no suite and seed in '$line'")
    }
    .groupMap(_._1)(_._2)

  /** The suites of the seeds. */
  def suites: Set[String] = all.keySet

  /** @param suite name without its package */
  def of(suite: String): Vector[Long] = all.getOrElse(suite, Vector.empty)
}
