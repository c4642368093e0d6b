package sparkkinesis

import org.scalatest.{Suite, Tag}

/**
 * How much a test run covers. `make test` sets `SPARK_KINESIS_TESTS=quick` and runs fewer seeds;
 * `make test-all` sets `rest` and runs what a quick run reduces or leaves out. Without the
 * variable, as in `project/sbt "connector/testOnly *FooSuite"`, everything runs in full.
 */
object TestScope {
  val isQuick: Boolean = sys.env.get("SPARK_KINESIS_TESTS").contains("quick")

  /** Of all repetitions: 1, unless the variable contains another number. */
  private val share = sys.env.get("SPARK_KINESIS_TEST_SHARE").fold(1.0)(_.toDouble)

  /** A quick run repeats a test only a fortieth as often, but at least five times. */
  def repetitions(full: Int): Int =
    if (isQuick) math.max(math.min(full, 5), full / 40) else math.max(1, (full * share).toInt)

  /**
   * The seeds from 1 to `repetitions(full)`, or to the number that the variable `SEEDS` contains,
   * or the one seed that the variable `SEED` names.
   */
  def seeds(full: Int): Vector[Long] = {
    val last = sys.env.get("SEEDS").fold(repetitions(full).toLong)(_.toLong)
    sys.env.get("SEED").map(_.toLong).fold((1L to last).toVector)(Vector(_))
  }
}

/** Marks a test that takes long: a quick run leaves it out. */
object Slow extends Tag("sparkkinesis.Slow")

/** Marks a test that keeps the whole machine busy for minutes: `.ci/run` leaves it out, too. */
object LongRunning extends Tag("sparkkinesis.LongRunning")

/** Marks a test that repeats itself fewer times in a quick run. */
object Repeated extends Tag("sparkkinesis.Repeated")

/** Marks all tests of a suite. */
trait TaggedSuite extends Suite {
  protected def tagOfAll: Tag

  override def tags: Map[String, Set[String]] = {
    val others = super.tags
    testNames.map(name => name -> (others.getOrElse(name, Set.empty) + tagOfAll.name)).toMap
  }
}

trait SlowSuite extends TaggedSuite {
  final override protected def tagOfAll: Tag = Slow
}

trait LongRunningSuite extends TaggedSuite {
  final override protected def tagOfAll: Tag = LongRunning
}

/** Runs in both scopes: the conformance table compares the reports of several suites. */
trait ConformanceSuite extends TaggedSuite {
  final override protected def tagOfAll: Tag = Repeated
}
