package sparkkinesis.bench

import java.util.concurrent.{ExecutionException, Executors, Future, TimeUnit, TimeoutException}

import scala.concurrent.duration._

import sparkkinesis.bench.report.Result
import sparkkinesis.bench.scenario._
import sparkkinesis.bench.server.BenchSpark
import sparkkinesis.bench.sizing.Sizing

/**
 * The result of a scenario.
 *
 * @param isStuck whether it is still running
 */
final case class Outcome(results: Seq[Result], isWell: Boolean, isStuck: Boolean = false)

/** All scenarios. */
object Scenarios {

  /** The names, in the order of the report. */
  val Names: Seq[String] =
    Seq(
      "simulator",
      "drain",
      "latency",
      "fanout",
      "realtime",
      "cold",
      "idle",
      "sink",
      "quota",
      "exactly_once",
      "readquota",
      "scale",
      "reshard",
      "interval",
      "account"
    )

  /** The time that an interrupted scenario has to end its processes. */
  private val CleanUpLimit = 1.minute

  def all(spark: BenchSpark, sizing: Sizing): Seq[Scenario] = Seq(
    new SimulatorScenario(sizing),
    new DrainScenario(spark, sizing),
    new LatencyScenario(spark, sizing),
    new FanOutScenario(spark, sizing),
    new RealTimeScenario(spark, sizing),
    new ColdScenario(sizing),
    new IdleScenario(spark, sizing),
    new SinkScenario(spark, sizing),
    new QuotaScenario(spark, sizing),
    new ExactlyOnceScenario(spark, sizing),
    new ReadQuotaScenario(spark, sizing),
    new ScaleScenario(sizing),
    new ReshardScenario(spark, sizing),
    new IntervalScenario(spark, sizing),
    new AccountScenario(spark, sizing)
  )

  /**
   * Runs the scenarios one after the other. If one does not end, no other one runs, because it
   * would disturb them.
   */
  def runAll(scenarios: Seq[Scenario], cleanUp: FiniteDuration = CleanUpLimit): Seq[Outcome] =
    scenarios.foldLeft(Vector.empty[Outcome]) { (outcomes, scenario) =>
      if (outcomes.lastOption.exists(_.isStuck)) outcomes
      else outcomes :+ run(scenario, cleanUp)
    }

  /** Runs a scenario to its end or its limit. A failure becomes a row, never an exception. */
  def run(scenario: Scenario, cleanUp: FiniteDuration = CleanUpLimit): Outcome = {
    println(s"== ${scenario.name}, at most ${scenario.limit}")
    val pool = Executors.newSingleThreadExecutor { task =>
      val thread = new Thread(task, s"bench-${scenario.name}")
      thread.setDaemon(true)
      thread
    }
    val begun = Deadline.now
    val outcome = awaited(scenario, pool.submit(() => scenario.run()))
    println(s"== ${scenario.name} took ${-begun.timeLeft.toSeconds} s")
    pool.shutdownNow()
    if (pool.awaitTermination(cleanUp.toMillis, TimeUnit.MILLISECONDS)) outcome
    else {
      val reason =
        s"not done within ${scenario.limit}, and still running after an interrupt: the bench stops"
      failed(scenario, reason).copy(isStuck = true)
    }
  }

  private def awaited(scenario: Scenario, running: Future[Seq[Result]]): Outcome =
    try {
      val results = running.get(scenario.limit.toMillis, TimeUnit.MILLISECONDS)
      Outcome(results, results.forall(_.value.nonEmpty))
    } catch {
      case e: ExecutionException =>
        e.getCause.printStackTrace()
        failed(scenario, e.getCause.toString)
      case _: TimeoutException => failed(scenario, s"not done within ${scenario.limit}")
    }

  private def failed(scenario: Scenario, reason: String): Outcome =
    Outcome(Seq(Result.missing(s"${scenario.name}: failed", "", reason)), isWell = false)
}
