package sparkkinesis.simulator.quota

import java.time.Instant

import org.scalacheck.{Gen, Shrink}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** Laws of a rate, over any schedule of asking. */
final class BucketSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import BucketSuite._

  // A schedule cut short is another schedule.
  private implicit val noShrink: Shrink[Vector[Ask]] = Shrink.shrinkAny

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 500)

  test("in any T seconds a bucket gives at most the amount of T + 1 seconds") {
    forAll(schedules(Rate)) { asks =>
      eachWindow(taken(asks)) { (amount, nanos) =>
        assert(BigInt(amount) * Second <= BigInt(Rate) * (nanos + Second))
      }
    }
  }

  test("an amount of more than one second passes once, and the average rate is kept") {
    forAll(schedules(10 * Rate)) { asks =>
      eachWindow(taken(asks)) { (amount, nanos) =>
        assert(BigInt(amount) * Second <= BigInt(Rate) * (nanos + 10 * Second))
      }
    }
  }

  test("a caller that waits as long as each amount needs is never refused") {
    forAll(Gen.nonEmptyListOf(Gen.choose(0L, 10 * Rate))) { amounts =>
      amounts.foldLeft((Bucket.full(Rate, Start), Start)) { case ((bucket, now), amount) =>
        val after = bucket.take(amount, now)
        assert(after.isDefined)
        (after.get, now.plusNanos((amount * Second + Rate - 1) / Rate))
      }
    }
  }

  test("a full bucket gives exactly its rate at once") {
    val bucket = Bucket.full(Rate, Start)
    val empty = (1L to Rate).foldLeft(bucket)((b, _) => b.take(1, Start).get)
    assert(empty.take(1, Start).isEmpty && !empty.isFull(Start))
    assert(empty.take(1, Start.plusNanos(Second / Rate - 1)).isEmpty)
    assert(empty.take(1, Start.plusNanos(Second / Rate)).nonEmpty)
    assert(!empty.isFull(Start.plusNanos(Second - 1)) && empty.isFull(Start.plusNanos(Second)))
  }

  test("an overdraft is paid back completely: the amount of five seconds takes five seconds") {
    forAll(Gen.choose(Rate + 1, 10 * Rate)) { amount =>
      val debt = Bucket.full(Rate, Start).overdraw(amount, Start).get
      val paid = Start.plusNanos(amount * Second / Rate)
      assert(debt.overdraw(1, paid.minusNanos(1)).isEmpty)
      assert(debt.overdraw(1, paid).nonEmpty)
    }
  }

  test("overdrafts keep the average rate, too") {
    forAll(schedules(5 * Rate)) { asks =>
      eachWindow(taken(asks, _.overdraw(_, _))) { (amount, nanos) =>
        assert(BigInt(amount) * Second <= BigInt(Rate) * (nanos + 6 * Second))
      }
    }
  }

  test("a clock that goes back adds nothing to a bucket") {
    val empty = Bucket.full(Rate, Start).take(Rate, Start).get
    val earlier = Start.minusSeconds(60)
    assert(empty.take(1, earlier).isEmpty)
    assert(!empty.isFull(earlier))
    assert(empty.take(Rate, Start.plusSeconds(1)).nonEmpty)
  }
}

private object BucketSuite {
  private val Start = Instant.parse("2026-01-01T00:00:00Z")
  private val Second = 1000000000L
  private val Rate = 1000L

  /** @param nanos since the one before */
  private final case class Ask(nanos: Long, amount: Long) {
    def at(before: Instant): Instant = before.plusNanos(nanos)
  }

  private def schedules(most: Long): Gen[Vector[Ask]] = {
    val pauses = Gen.frequency(
      2 -> Gen.const(0L),
      4 -> Gen.choose(0L, Second / 2),
      1 -> Gen.choose(0L, 20 * Second)
    )
    val amounts = Gen.frequency(3 -> Gen.choose(0L, most / 20), 1 -> Gen.choose(0L, most))
    Gen.nonEmptyListOf(Gen.zip(pauses, amounts).map { case (p, a) => Ask(p, a) }).map(_.toVector)
  }

  private type Taking = (Bucket, Long, Instant) => Option[Bucket]

  private val take: Taking = _.take(_, _)

  /** When what was let through. */
  private def taken(asks: Vector[Ask], taking: Taking = take): Vector[(Instant, Long)] =
    asks.zip(times(asks)).zip(accepted(asks, taking)).collect { case ((ask, at), true) =>
      (at, ask.amount)
    }

  private def accepted(asks: Vector[Ask], taking: Taking): Vector[Boolean] = {
    val steps = asks.zip(times(asks)).scanLeft((Bucket.full(Rate, Start), false)) {
      case ((bucket, _), (ask, at)) =>
        taking(bucket, ask.amount, at).fold((bucket, false))((_, true))
    }
    steps.tail.map(_._2)
  }

  private def times(asks: Vector[Ask]): Vector[Instant] =
    asks.scanLeft(Start)((at, ask) => ask.at(at)).tail

  /** The amount and the length of every stretch that begins and ends with something taken. */
  private def eachWindow(taken: Vector[(Instant, Long)])(check: (Long, Long) => Unit): Unit =
    for {
      first <- taken.indices
      last <- first until taken.size
    } {
      val nanos = java.time.Duration.between(taken(first)._1, taken(last)._1).toNanos
      check(taken.slice(first, last + 1).map(_._2).sum, nanos)
    }
}
