package sparkkinesis.bench

import java.util.concurrent.CountDownLatch

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.bench.report.{Goal, Result, Samples}
import sparkkinesis.bench.scenario.Scenario

class ScenariosSuite extends AnyFunSuite {
  private def scenario(limited: FiniteDuration)(body: => Seq[Result]): Scenario = new Scenario {
    override val name = "some"
    override val limit: FiniteDuration = limited
    override def run(): Seq[Result] = body
  }

  private def notes(outcome: Outcome) = outcome.results.flatMap(_.note)

  test("the failure of a scenario becomes a row with the reason") {
    val outcome = Scenarios.run(scenario(1.minute)(sys.error("no server")))
    assert(!outcome.isWell && notes(outcome) === Seq("java.lang.RuntimeException: no server"))
    assert(outcome.results.map(_.name) === Seq("some: failed"))
  }

  test("a scenario that hangs is interrupted, and cleaned up before the next one starts") {
    @volatile var isCleanedUp = false
    val outcome = Scenarios.run(scenario(1.second) {
      try {
        new CountDownLatch(1).await()
        Nil
      } finally isCleanedUp = true
    })
    assert(!outcome.isWell && isCleanedUp && notes(outcome) === Seq("not done within 1 second"))
  }

  test("if a scenario does not end after its interrupt, no other one is run") {
    val (end, ended) = (new CountDownLatch(1), new CountDownLatch(1))
    @volatile var isNextRun = false
    val stubborn = scenario(1.second) {
      while (end.getCount > 0)
        try end.await()
        catch { case _: InterruptedException => () }
      ended.countDown()
      Nil
    }
    val next = scenario(1.minute) { isNextRun = true; Nil }
    try {
      val outcomes = Scenarios.runAll(Seq(stubborn, next), cleanUp = 100.millis)
      assert(outcomes.map(_.isStuck) === Seq(true) && !isNextRun)
      assert(!outcomes.head.isWell && notes(outcomes.head).head.endsWith("the bench stops"))
    } finally {
      end.countDown()
      ended.await()
    }
  }

  test("after a failed scenario the next one is run") {
    val outcomes =
      Scenarios.runAll(Seq(scenario(1.minute)(sys.error("no")), scenario(1.minute)(Nil)))
    assert(outcomes.map(_.isWell) === Seq(false, true))
  }

  test("the bench fails if a figure could not be measured, but not if a goal is missed") {
    val missed = Result.measured("some: a", "ms", Samples(Seq(9)), Goal.atMost(5))
    assert(Scenarios.run(scenario(1.minute)(Seq(missed))).isWell)
    val missing = Result.missing("some: b", "ms", "no jcmd")
    assert(!Scenarios.run(scenario(1.minute)(Seq(missed, missing))).isWell)
  }

  test("the command line selects the scenarios and the amount of data") {
    assert(Arguments.parse(Nil) === Right(Arguments()))
    val both = Arguments.parse(List("--quick", "--only", "drain,latency")).toOption.get
    assert(both.isQuick && both.only.contains(Set("drain", "latency")))
    assert(both.results !== Arguments().results, "a quick one's figures mean nothing")
    assert(Arguments.parse(List("--only", "drian")).left.exists(_.contains("drain,latency")))
  }
}
