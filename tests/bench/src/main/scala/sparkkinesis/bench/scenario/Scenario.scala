package sparkkinesis.bench.scenario

import scala.concurrent.duration.FiniteDuration

import sparkkinesis.bench.report.Result

/** A group of measurements, with its own processes and streams. */
trait Scenario {

  /** The name on the command line. The name of each result starts with it. */
  def name: String

  /** The time after which the scenario is interrupted. */
  def limit: FiniteDuration

  /** Measures. An exception is reported in place of results. Interruptible. */
  def run(): Seq[Result]
}
