package sparkkinesis.spark.lineage

import sparkkinesis.model.StreamArn

/** A part of a plan of Spark that reads or writes streams. */
private[spark] trait KnownStreams {

  /** The streams whose ARN is known by now. Calls no service. For any thread. */
  def knownStreams: Iterable[StreamArn]
}
