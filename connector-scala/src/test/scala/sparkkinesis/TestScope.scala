package sparkkinesis

import org.scalatest.{Suite, Tag}
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/**
 * How much a test run covers. `make test` sets `SPARK_KINESIS_TESTS=quick` and runs fewer seeds.
 * `make test-all` sets `rest` and runs what a quick run reduces or leaves out. `.ci/run` sets `ci`.
 * `make campaign` sets `campaign` and runs new seeds only. Without the variable, as in
 * `project/sbt "connector/testOnly *FooSuite"`, everything runs in full.
 */
class TestScope(env: Map[String, String]) {
  private val scope = env.getOrElse("SPARK_KINESIS_TESTS", "")
  val isQuick: Boolean = scope == "quick"
  val isCi: Boolean = scope == "ci"

  /** A quick run repeats a test a fortieth as often, and CI a tenth, but at least five times. */
  def repetitions(full: Int): Int = repetitions(full, scope)

  private def repetitions(full: Int, scope: String): Int =
    math.max(math.min(full, 5), full / Map("quick" -> 40, "ci" -> 10).getOrElse(scope, 1))

  /** Seeds that every suite of simulations tries. `tests/golden/seeds.txt` has more, by suite. */
  val Fixed: Vector[Long] = (1L to 25L).toVector

  /** The seed that the variable `SEED` names runs alone. */
  private val only = env.get("SEED").map(_.toLong)

  /**
   * The seeds of a test: the fixed ones, those that once found a defect, and others up to the
   * number `repetitions(full)` or the one that the variable `SEEDS` contains. The others begin at
   * the number that the variable `FIRST_SEED` contains. The rest tries none of those that a quick
   * run tries. A campaign tries new seeds only.
   */
  def seeds(
      full: Int,
      fixed: Vector[Long] = Fixed,
      stored: Vector[Long] = Vector.empty
  ): Vector[Long] = {
    val first = env.get("FIRST_SEED").fold(fixed.size.toLong)(_.toLong)
    val all = env.get("SEEDS").fold(repetitions(full))(_.toInt)
    val others = Iterator.iterate(first)(_ + 1).filterNot(fixed.contains)
    val inQuick = math.max(5, repetitions(full, "quick") - fixed.size)
    val count = math.max(5, all - fixed.size)
    (only, scope) match {
      case (Some(seed), _) => Vector(seed)
      case (_, "campaign") => others.take(all).toVector
      case (_, "rest") => others.slice(inQuick, inQuick + count).toVector
      case _ => (fixed ++ stored ++ others.take(count)).distinct
    }
  }

  /**
   * The results of the fixed seeds, out of those of all seeds of a test. Assertions about a mix of
   * histories are about these only, because other seeds may miss it by chance.
   */
  def ofFixed[A](results: Seq[A], fixed: Vector[Long] = Fixed): Option[Seq[A]] =
    Option.when(only.isEmpty && !Set("rest", "campaign")(scope))(results.take(fixed.size))
}

object TestScope extends TestScope(sys.env)

/** Marks a test that takes long: a quick run leaves it out. */
object Slow extends Tag("sparkkinesis.Slow")

/** Marks a test that keeps the whole machine busy for minutes: `.ci/run` leaves it out, too. */
object LongRunning extends Tag("sparkkinesis.LongRunning")

/** Marks a test that repeats itself fewer times in a quick run. */
object Repeated extends Tag("sparkkinesis.Repeated")

/** Properties of a hundred random inputs. */
trait Properties extends ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 100)
}

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
