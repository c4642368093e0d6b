package sparkkinesis.source.simulation.realtime

import scala.concurrent.duration._

import sparkkinesis.Steps
import sparkkinesis.model.Position
import sparkkinesis.source.query.RealTimeQuery
import sparkkinesis.source.simulation.World

/**
 * The life of a query in real-time mode, by its seed: see [[LiveQuery.disturb]] for what happens to
 * it.
 */
final class LiveHistory(seed: Long) {
  val world = new World(seed, failOnDataLoss = true)
  import world._

  /** Runs the query until it has read all records, and stops it. */
  def run(): LiveQuery = {
    for (_ <- 0 until Steps(random.nextInt(8))) producer.actAtRandom()
    world.settle()
    val streams = 1 + random.nextInt(producers.size)
    val query = new LiveQuery(world, streams)
    if (world.start == Position.Latest) producers.take(streams).foreach(_.forget())
    world.passChoice()
    unleash()
    for (_ <- 0 until Steps(25 + random.nextInt(150))) act(query)
    calmly(query.addStreams())
    for (_ <- 0 until Steps(25 + random.nextInt(150))) act(query)
    var runs = 0
    while (runs == 0 || query.size < total) {
      // The task of a last batch may fail, but not in each run.
      require(runs < MostRuns, s"it hands out rows only in batches that fail: $query")
      if (runs > 0) query.start()
      drain(query)
      query.stop()
      runs += 1
    }
    query
  }

  private def total = written.values.map(_.size).sum

  private def act(query: LiveQuery): Unit = {
    rivalReads()
    random.nextInt(60) match {
      case 0 | 1 | 2 => calmly(producer.actAtRandom())
      case 3 | 4 | 5 => query.disturb()
      case 6 => if (random.nextInt(5) == 0) query.start()
      case _ =>
    }
    query.step(random.nextInt(if (random.nextInt(10) == 0) 1000 else 200).millis)
  }

  /**
   * Runs without faults until all rows were handed out. The driver waits twice for a task that has
   * no slot: it ignores a retry, for which a slot is often only missing for a moment.
   */
  private def drain(query: LiveQuery): Unit = {
    val mostQuietMillis = quietSeconds * 1000 + 2 * RealTimeQuery.Patience.toMillis
    soothe()
    query.settle()
    var found = 0
    var quietMillis = 0L
    while (query.found < total) {
      require(quietMillis < mostQuietMillis, s"it misses records: $query")
      query.step(200.millis)
      quietMillis = if (query.found != found) 0 else quietMillis + 200
      found = query.found
    }
  }

  private val MostRuns = 3
}
