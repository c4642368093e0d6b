package sparkkinesis.simulator.http.fuzz

import java.util.SplittableRandom

/** Chance that can be replayed. */
private[http] final class Dice(seed: Long) {
  private val random = new SplittableRandom(seed)

  /** 0 to `end - 1`. */
  def below(end: Int): Int = random.nextInt(end)

  def long(): Long = random.nextLong()

  def byte(): Byte = random.nextInt(256).toByte

  def bytes(count: Int): Array[Byte] = Array.fill(count)(byte())

  /** True once in so many. */
  def oneIn(count: Int): Boolean = random.nextInt(count) == 0

  def oneOf[A](choices: IndexedSeq[A]): A = choices(random.nextInt(choices.size))
}
