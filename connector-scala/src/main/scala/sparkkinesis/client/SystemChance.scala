package sparkkinesis.client

import java.util.concurrent.ThreadLocalRandom

/**
 * Random numbers, evenly distributed in `[0, 1)`, for jitter. Code that decides takes them as an
 * argument, like the [[Clock]].
 */
object SystemChance extends (() => Double) {
  override def apply(): Double = ThreadLocalRandom.current().nextDouble()
}
