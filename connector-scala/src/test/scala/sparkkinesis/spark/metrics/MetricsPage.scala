package sparkkinesis.spark.metrics

import java.nio.file.Files

import scala.jdk.CollectionConverters._

import sparkkinesis.Repository

/** The names in `docs/reference/metrics.md`. */
object MetricsPage {

  /** The names in the first column of a table below a heading. */
  def names(heading: String): Set[String] = {
    val lines = Files.readAllLines(Repository.root.resolve("docs/reference/metrics.md")).asScala
    val section = lines.dropWhile(_ != s"## $heading").drop(1).takeWhile(!_.startsWith("## "))
    val names = "`([A-Za-z0-9]+(?:\\.<stream>(?:/<shard>)?)?)`".r
    section
      .filter(_.startsWith("|"))
      .flatMap(line => names.findAllMatchIn(line.split('|')(1)))
      .map(_.group(1))
      .toSet
  }
}
