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
    require(isCommitted, "the batch has not been committed")
    check()
  }

  private def sometime(action: => Unit): Unit =
    agenda.after(random.nextInt(calmAt).toLong)(action)

  private def start(): Unit = {
    val run = new OnceRun(world, runs.size.toLong, () => isCommitted = true)
    runs :+= run
    run.begin()
  }

  /** The driver crashes, or is cut off and goes on. Another one begins. */
  private def loseDriver(): Unit = if (!isCommitted) {
    val lost = runs.last
    if (random.nextBoolean()) lost.crash() else features += "two drivers at once"
    start()
    agenda.after(calmAt.toLong + 60000)(lost.crash())
  }

  private def check(): Unit = {
    val found = landed.toVector.flatMap(UserRecords.of)
    def counts(entries: Seq[PutEntry]) =
      entries.groupMapReduce(it => it.partitionKey -> it.data.toVector)(_ => 1)(_ + _)
    val (expected, actual) = (counts(rows.flatten), counts(found))
    val lost = expected.filter { case (row, count) => actual.getOrElse(row, 0) < count }
    val twice = actual.filter { case (row, count) => expected.getOrElse(row, 0) < count }
    require(lost.isEmpty, s"${lost.size} rows are lost, such as ${lost.head._1._1}")
    require(twice.isEmpty, s"${twice.size} rows are there too often, such as ${twice.head._1._1}")
    if (isOrdered && reshards == 0) checkOrder(found)
  }

  /** A reshard moves keys to other shards, between which there is no order. */
  private def checkOrder(found: Vector[PutEntry]): Unit = {
    def order(entries: Vector[PutEntry]) = entries.groupMap(_.partitionKey)(_.data.toVector)
    val (expected, actual) = (order(rows.flatten), order(found))
    expected.foreach { case (key, data) =>
      require(actual(key) == data, s"the rows of $key are in another order")
    }
  }
}
