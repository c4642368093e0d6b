package sparkkinesis.sink.simulation.once

import scala.concurrent.duration._

import sparkkinesis.model.PutEntry
import sparkkinesis.model.aggregate.UserRecords

/**
 * One seeded history of a batch that is written exactly once: requests, questions and answers get
 * lost or are late, shards change, tasks and drivers end or go on beside their successors.
 */
final class OnceHistory(seed: Long) {
  val world = new OnceWorld(seed)
  import world._

  private var runs = Vector.empty[OnceRun]
  private var isCommitted = false

  /** Runs it to its end. Throws if a row is lost, is there twice, or is not in order. */
  def run(): Unit = {
    start()
    for (_ <- 0 until reshards) sometime(shards.change())
    for (_ <- 0 until taskFaults) sometime(runs.last.replace())
    for (_ <- 0 until driverFaults) sometime(loseDriver())
    agenda.run(2.hours)
    require(isCommitted || isTooLate, "the batch has not been committed")
    check()
  }

  private def sometime(action: => Unit): Unit =
    agenda.after(random.nextInt(calmAt).toLong)(action)

  private def start(): Unit = {
    val run = new OnceRun(world, runs.size.toLong, () => isCommitted = true)
    runs :+= run
    if (runs.size == 1) run.begin() else agenda.after(random.nextInt(60000).toLong)(run.begin())
  }

  /** The driver crashes, or is cut off and goes on. Another one begins. */
  private def loseDriver(): Unit = if (!isCommitted && !isTooLate) {
    val lost = runs.last
    if (random.nextBoolean()) lost.crash() else features += "two drivers at once"
    start()
    agenda.after(calmAt.toLong + 60000)(lost.crash())
  }

  private def check(): Unit = {
    val found = landed.toVector.flatMap(it => UserRecords.of(it._2))
    def counts(entries: Seq[PutEntry]) =
      entries.groupMapReduce(it => it.partitionKey -> it.data.toVector)(_ => 1)(_ + _)
    val (expected, actual) = (counts(rows.flatten), counts(found))
    val lost = expected.filter { case (row, count) => actual.getOrElse(row, 0) < count }
    val twice = actual.filter { case (row, count) => expected.getOrElse(row, 0) < count }
    require(lost.isEmpty || isTooLate, s"${lost.size} rows are lost, such as ${lost.head._1._1}")
    require(twice.isEmpty, s"${twice.size} rows are there too often, such as ${twice.head._1._1}")
    if (isOrdered && !isTooLate) checkOrder(found)
  }

  /**
   * The rows of a key are in order within each shard. A reshard moves keys to other shards: then
   * they need not be in order over all shards.
   */
  private def checkOrder(found: Vector[PutEntry]): Unit = {
    def order(entries: Vector[PutEntry]) = entries.groupMap(_.partitionKey)(_.data.toVector)
    val (expected, actual) = (order(rows.flatten), order(found))
    disorderedKeys = expected.count { case (key, data) => actual(key) != data }
    require(disorderedKeys == 0 || reshards > 0, "keys are in another order")
    if (reshards > 0) features += "reshard with order"
    landed.toVector.groupMap(_._1)(_._2).foreach { case (shard, entries) =>
      order(entries.flatMap(UserRecords.of)).foreach { case (key, data) =>
        val rest = expected(key).iterator
        require(data.forall(rest.contains(_)), s"the rows of $key in $shard are in another order")
      }
    }
  }
}
