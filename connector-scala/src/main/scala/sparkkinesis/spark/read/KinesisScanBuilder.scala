package sparkkinesis.spark.read

import org.apache.spark.sql.connector.expressions.filter.Predicate
import org.apache.spark.sql.connector.read.{Scan, SupportsPushDownV2Filters}

import sparkkinesis.source.options.SourceOptions
import sparkkinesis.source.replay.ReadBounds

/**
 * Plans a read. Filters on arrival time, shard and stream limit what a batch read fetches.
 *
 * @param options of a streaming query
 * @param ofBatch the options of a batch read
 * @param permit throws if the options may not be used
 */
private[sparkkinesis] final class KinesisScanBuilder(
    options: SourceOptions,
    ofBatch: SourceOptions,
    permit: () => Unit
) extends SupportsPushDownV2Filters {
  private var pushed = Array.empty[Predicate]
  private var bounds = ReadBounds()

  /** Returns all predicates, so that Spark filters, too: the limits of a read need not be exact. */
  override def pushPredicates(predicates: Array[Predicate]): Array[Predicate] = {
    pushed = predicates.filter(ArrivalFilter.bounds(_) != ReadBounds())
    bounds = predicates.map(ArrivalFilter.bounds).foldLeft(ReadBounds())(_ and _)
    predicates
  }

  override def pushedPredicates(): Array[Predicate] = pushed

  override def build(): Scan = new KinesisScan(options, ofBatch, bounds, permit)
}
