package sparkkinesis.bench.scenario

import scala.concurrent.duration.FiniteDuration

import sparkkinesis.bench.report.Result

/** Something to measure, with processes and streams of its own. */
trait Scenario {

  /** As on the command line; each result's name begins with it. */
  def name: String

  /** When to give it up. */
  def limit: FiniteDuration

  /** May throw anything: that is reported in place of results. Heeds interrupts. */
  def run(): Seq[Result]
}
