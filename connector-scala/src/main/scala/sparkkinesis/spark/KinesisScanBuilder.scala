package sparkkinesis.spark

import org.apache.spark.sql.connector.expressions.filter.Predicate
import org.apache.spark.sql.connector.read.{Scan, SupportsPushDownV2Filters}

import sparkkinesis.source.options.SourceOptions
import sparkkinesis.source.replay.ReadBounds
import sparkkinesis.spark.read.ArrivalFilter

/** A read to be planned. Filters on arrival time, shard and stream let a batch read leave out the rest. */
final class KinesisScanBuilder(options: SourceOptions) extends SupportsPushDownV2Filters {
  private var pushed = Array.empty[Predicate]
  private var bounds = ReadBounds.None

  /** All are left to Spark too: they narrow what is fetched, and need not do so exactly. */
  override def pushPredicates(predicates: Array[Predicate]): Array[Predicate] = {
    pushed = predicates.filter(ArrivalFilter.bounds(_).nonEmpty)
    bounds = pushed.flatMap(ArrivalFilter.bounds(_)).foldLeft(ReadBounds.None)(_ and _)
    predicates
  }

  override def pushedPredicates(): Array[Predicate] = pushed

  override def build(): Scan = new KinesisScan(options, bounds)
}
