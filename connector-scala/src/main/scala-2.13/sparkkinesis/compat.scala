package sparkkinesis

/**
 * The methods of Scala 2.13 that Scala 2.12 lacks: none here. A source that uses one of them
 * imports `sparkkinesis.compat._`, which adds it on Scala 2.12 (docs/adr/0010-spark-3-5.md).
 */
private[sparkkinesis] object compat
