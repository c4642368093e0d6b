package sparkkinesis.simulator

import scala.concurrent.duration._
import scala.util.Random

import sparkkinesis.model.ArrivalTimes
import sparkkinesis.simulator.state.Behaviour

/**
 * What the Kinesis of a seeded history does besides the simplest. In a third of the histories that
 * is nothing; in the others, each behaviour occurs in half of them.
 */
object DrawnBehaviour {

  /** @param seed of the history, or any other number that follows from it */
  def apply(seed: Long): Behaviour = {
    val random = new Random(seed)
    val isOff = random.nextInt(3) == 0
    def some[A](off: A, on: => A): A = if (isOff || random.nextBoolean()) off else on
    // What the connector assumes of both together.
    val margin = ArrivalTimes.Margin.toMillis.toInt
    val fall = some(0, random.nextInt(margin + 1))
    Behaviour(
      visibilityDelay = some(0, random.nextInt(margin - fall + 1)).millis,
      arrivalFall = fall.millis,
      emptyPages = some(0.0, random.nextDouble() / 2),
      lateShardEnds = some(0.0, random.nextDouble()),
      failedEntries = some(0.0, random.nextDouble() / 4),
      shuffledPuts = some(0.0, random.nextDouble()),
      reshardInterval = some(0, 1 + random.nextInt(10000)).millis,
      // After the others, which they must not change.
      endlessSubscriptions = some(0.0, random.nextDouble()),
      replayedSubscriptions = some(0.0, random.nextDouble()),
      seed = seed
    )
  }
}
