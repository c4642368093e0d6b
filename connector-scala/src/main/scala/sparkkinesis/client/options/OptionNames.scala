package sparkkinesis.client.options

import java.util.Locale

import sparkkinesis.compat._

/** The names of options: their spelling, Spark's own, and the nearest to a misspelled one. */
private[sparkkinesis] object OptionNames {

  /**
   * The options that Spark itself adds to those of a source or sink, or reads from there.
   *
   * `path(s)`: `load(path)`, `start(path)` (DataSourceV2Utils); `checkpointLocation`, `queryName`:
   * DataStreamWriter passes all its options to the table; the rest: AsyncProgressTracking of
   * MicroBatchExecution.
   */
  val Spark: Seq[String] = Seq(
    "path",
    "paths",
    "checkpointLocation",
    "queryName",
    "asyncProgressTrackingEnabled",
    "asyncProgressTrackingCheckpointIntervalMs",
    "_asyncProgressTrackingOverrideSinkSupportCheck"
  )

  def isSparks(name: String): Boolean = Spark.exists(_.equalsIgnoreCase(name))

  /** The name in lower case. */
  def normalized(name: String): String = name.toLowerCase(Locale.ROOT)

  /**
   * The name without the prefix `kinesis.`, which some connectors require and which is optional
   * here.
   */
  def withoutPrefix(name: String): String = normalized(name).stripPrefix("kinesis.")

  /** The known name that differs from `name` in at most a third of the letters. */
  def nearest(name: String, known: Seq[String]): Option[String] = {
    val bare = withoutPrefix(name)
    known.map(it => it -> distance(bare, normalized(it))).minByOption(_._2).collect {
      case (candidate, edits) if edits <= math.max(2, bare.length / 3) => candidate
    }
  }

  /** The Levenshtein distance: number of letters to insert, remove or replace. */
  private[client] def distance(a: String, b: String): Int = {
    val last = a.foldLeft((0 to b.length).toVector) { (above, letter) =>
      b.indices
        .scanLeft(above.head + 1) { (left, j) =>
          val replaced = above(j) + (if (b(j) == letter) 0 else 1)
          math.min(replaced, math.min(left, above(j + 1)) + 1)
        }
        .toVector
    }
    last.last
  }
}
