package sparkkinesis.spark.deadletter

import java.util.{LinkedHashMap, Map => JMap}

import org.apache.spark.SparkContext

import sparkkinesis.compat._

/**
 * The micro-batch whose function makes a batch write (`foreachBatch`). If the micro-batch runs
 * again, its writes have the same names. Unknown in Spark Connect, and in a thread that was there
 * before the function: then only option `writeId` names a write.
 *
 * @param queryId id of the streaming query; a second write of the same run has `-2` after it
 */
private[spark] final case class EnclosingBatch(queryId: String, batchId: Long)

private[spark] object EnclosingBatch {

  // Spark sets these for the thread of a query, and for threads that it starts.
  private val Query = "sql.streaming.queryId"
  private val Batch = "streaming.sql.batchId"

  /** The property with the ID of an execution, which is new in each run of a micro-batch. */
  private val Run = "spark.sql.execution.root.id"

  /** Number of the last runs to remember. A thread that a user keeps may write for an old run. */
  private val MostRuns = 1000
  private val writes = new LinkedHashMap[String, Set[Int]](16, 0.75f, true) {
    override def removeEldestEntry(eldest: JMap.Entry[String, Set[Int]]): Boolean = size > MostRuns
  }

  /**
   * Publishes the files of a write of this thread's micro-batch, or of a write outside of one. If
   * that fails, a later write of the run may have the name.
   */
  def publishing(publish: Option[EnclosingBatch] => Unit): Unit = {
    val context = SparkContext.getOrCreate()
    def property(name: String) = Option(context.getLocalProperty(name))
    val found = for {
      query <- property(Query)
      batch <- property(Batch).flatMap(_.toLongOption)
      run <- property(Run)
    } yield (query, batch, s"$query/$batch/$run")
    found.fold(publish(None)) { case (query, batch, run) =>
      val number = take(run)
      try publish(Some(EnclosingBatch(if (number == 1) query else s"$query-$number", batch)))
      catch {
        case e: Throwable =>
          giveBack(run, number)
          throw e
      }
    }
  }

  private def take(run: String): Int = synchronized {
    val taken = writes.getOrDefault(run, Set.empty)
    val number = Iterator.from(1).filterNot(taken).next()
    writes.put(run, taken + number)
    number
  }

  private def giveBack(run: String, number: Int): Unit = synchronized {
    writes.computeIfPresent(run, (_, taken) => taken - number): Unit
  }
}
