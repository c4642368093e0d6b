package sparkkinesis.bench

import java.util.concurrent.{ExecutionException, Executors, TimeUnit, TimeoutException}

import scala.concurrent.duration._

/** What became of a scenario. */
final case class Outcome(results: Seq[Result], isWell: Boolean)

/** All there is to measure. */
object Scenarios {

  /** In the order of the report. */
  val Names: Seq[String] =
    Seq("simulator", "drain", "latency", "idle", "sink", "quota", "scale", "reshard")

  /** An interrupted scenario ends its processes before the next one begins. */
  private val CleanUpLimit = 1.minute

  def all(lab: Lab, sizing: Sizing): Seq[Scenario] = Seq(
    new SimulatorScenario(sizing),
    new DrainScenario(lab, sizing),
    new LatencyScenario(lab, sizing),
    new IdleScenario(lab, sizing),
    new SinkScenario(lab, sizing),
    new QuotaScenario(lab, sizing),
    new ScaleScenario(sizing),
    new ReshardScenario(lab, sizing)
  )

  /** Runs one to its end or its limit; a failure becomes a row, never an exception. */
  def run(scenario: Scenario): Outcome = {
    println(s"== ${scenario.name}, at most ${scenario.limit}")
    val pool = Executors.newSingleThreadExecutor { task =>
      val thread = new Thread(task, s"bench-${scenario.name}")
      thread.setDaemon(true)
      thread
    }
    try {
      val results =
        pool.submit(() => scenario.run()).get(scenario.limit.toSeconds, TimeUnit.SECONDS)
      Outcome(results, results.forall(_.value.nonEmpty))
    } catch {
      case e: ExecutionException =>
        e.getCause.printStackTrace()
        failed(scenario, e.getCause.toString)
      case _: TimeoutException => failed(scenario, s"not done within ${scenario.limit}")
    } finally {
      pool.shutdownNow()
      pool.awaitTermination(CleanUpLimit.toSeconds, TimeUnit.SECONDS)
      ()
    }
  }

  private def failed(scenario: Scenario, reason: String): Outcome =
    Outcome(Seq(Result.missing(s"${scenario.name}: failed", "", reason)), isWell = false)
}
