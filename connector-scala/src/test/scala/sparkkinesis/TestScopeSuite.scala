package sparkkinesis

import org.scalatest.funsuite.AnyFunSuite

/** The seeds of each scope. */
class TestScopeSuite extends AnyFunSuite {
  private val fixed = (1L to 25L).toVector

  private def seeds(scope: String, full: Int, more: (String, String)*) =
    new TestScope(Map("SPARK_KINESIS_TESTS" -> scope) ++ more).seeds(full)

  test("a quick run and CI try the fixed seeds, and others from the first one on") {
    Seq("quick" -> 125, "ci" -> 500, "" -> 5000).foreach { case (scope, count) =>
      val others = (70000L until 70000L + count - fixed.size).toVector
      assert(seeds(scope, 5000, "FIRST_SEED" -> "70000") === fixed ++ others)
    }
    assert(seeds("quick", 300, "FIRST_SEED" -> "70000") === fixed ++ (70000L to 70004L))
  }

  test("the rest tries no seed of a quick run, and as many as asked for") {
    for (full <- Seq(100, 5000); first <- Seq("20", "70000")) {
      val rest = seeds("rest", full, "FIRST_SEED" -> first)
      assert(rest.intersect(seeds("quick", full, "FIRST_SEED" -> first)).isEmpty)
      assert(rest.size > full - 2 * fixed.size && rest === rest.distinct)
    }
  }

  test("a campaign tries as many new seeds as asked for") {
    val asked = Seq("FIRST_SEED" -> "70000", "SEEDS" -> "3")
    assert(seeds("campaign", 5000, asked: _*) === Vector(70000L, 70001L, 70002L))
  }

  test("SEED chooses one seed, and SEEDS the number of seeds") {
    assert(seeds("", 5000, "SEED" -> "863") === Vector(863L))
    assert(seeds("quick", 5000, "SEEDS" -> "500").distinct.size === 500)
    assert(seeds("", 5000, "SEEDS" -> "1000").take(40) === fixed ++ (26L to 40L))
  }

  test("seeds that found a defect run once, after the fixed ones") {
    def seeds(scope: String) = new TestScope(
      Map("SPARK_KINESIS_TESTS" -> scope, "FIRST_SEED" -> "70000", "SEEDS" -> "30")
    ).seeds(5000, stored = Vector(8L, 70001L))
    val others = (70000L to 70004L).toVector
    assert(seeds("quick") === fixed ++ Vector(70001L) ++ others.filterNot(_ == 70001L))
    assert(seeds("campaign") === (70000L to 70029L).toVector)
  }

  test("the results of the fixed seeds come first, and none are fixed in other runs") {
    def mix(env: (String, String)*) = new TestScope(env.toMap).ofFixed((1 to 100).toVector)
    assert(mix("SPARK_KINESIS_TESTS" -> "ci") === Some((1 to fixed.size).toVector))
    assert(mix("SPARK_KINESIS_TESTS" -> "rest") === None)
    assert(mix("SPARK_KINESIS_TESTS" -> "campaign") === None)
    assert(mix("SEED" -> "7") === None)
  }
}
