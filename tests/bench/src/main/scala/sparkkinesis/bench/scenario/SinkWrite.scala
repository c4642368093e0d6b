package sparkkinesis.bench.scenario

import java.net.URI

import org.apache.spark.sql.functions.{col, concat, lit}
import org.apache.spark.sql.{Column, DataFrame}

import sparkkinesis.bench.measure.WriteSpeed
import sparkkinesis.bench.raw.RawWriter
import sparkkinesis.bench.report.{Goal, Result, Samples}
import sparkkinesis.bench.server.BenchSpark
import sparkkinesis.bench.sizing.{Load, Sizing}

/** Writes the rows of the sink's scenarios: the same records as those of the raw loop. */
final class SinkWrite(spark: BenchSpark) {

  /** @param key the same keys as in [[RawWriter]], from the column `id` */
  def rows(load: Load, key: Column): DataFrame = {
    val data = lit(RawWriter.payload(load.size)).as("data")
    spark.session.range(0, load.records.toLong, 1, 2).select(key.as("partitionKey"), data)
  }

  /** @param more further options of the sink */
  def write(
      rows: DataFrame,
      endpoint: URI,
      stream: String,
      more: Map[String, String] = Map.empty
  ): Unit = rows.write
    .format("kinesis")
    .options(BenchSpark.options(endpoint, stream) ++ more)
    .mode("append")
    .save()
}

object SinkWrite {

  /** The same key as [[RawWriter.evenKey]]. */
  val EvenKey: Column = concat(lit("k"), (col("id") * 7919L).cast("string"))

  /**
   * The speeds of all rounds, after a smaller one that does not count.
   *
   * @param both the speeds of the baseline and of the sink in a round
   */
  def speeds(title: String, sizing: Sizing, load: Load)(
      both: (Load, Int) => (WriteSpeed, WriteSpeed)
  ): Speeds = {
    both(load.part(sizing.warmUpPart), 0)
    new Speeds(title, (1 to sizing.rounds).map(both(load, _)))
  }

  /** @param rounds the speeds of the baseline and of the sink */
  final class Speeds(title: String, rounds: Seq[(WriteSpeed, WriteSpeed)]) {
    def row(what: String, unit: String, goal: Goal*)(figure: WriteSpeed => Double): Result =
      Result.compared(
        s"$title, $what",
        unit,
        Samples.of(rounds)(round => figure(round._2)),
        Samples.of(rounds)(round => figure(round._1)),
        goal: _*
      )
  }
}
