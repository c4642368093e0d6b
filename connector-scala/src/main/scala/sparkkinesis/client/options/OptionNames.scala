package sparkkinesis.client.options

import sparkkinesis.client.options.Options.lower
import sparkkinesis.compat._

/** Names of options that are not ours: Spark's, and misspelt ones. */
private[client] object OptionNames {

  /**
   * What Spark itself puts among a source's or sink's options, or reads from there.
   *
   * `path(s)`: `load(path)`, `start(path)` (DataSourceV2Utils); `checkpointLocation`, `queryName`:
   * DataStreamWriter hands all its options to the table; the rest: AsyncProgressTracking of
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

  /** What to say about a name that is neither ours in any spelling nor Spark's. */
  def unknown(name: String, known: Seq[String]): String = {
    val hint = OptionAliases.remedy(name, known).getOrElse {
      val bare = lower(name).stripPrefix(OptionAliases.Prefix)
      val meant = nearest(bare, known).fold("")(near => s"Did you mean '$near'? ")
      s"${meant}Known are: ${known.sorted.mkString(", ")}."
    }
    s"There is no option '$name' here. $hint"
  }

  /** Close enough to be a slip: a third of the letters may differ. */
  private def nearest(name: String, known: Seq[String]): Option[String] = {
    val byDistance = known.map(candidate => candidate -> distance(name, lower(candidate)))
    byDistance.minByOption(_._2).collect {
      case (candidate, edits) if edits <= math.max(2, name.length / 3) => candidate
    }
  }

  /** Letters to insert, remove or replace (Levenshtein). */
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
