package sparkkinesis.bench.scenario

import java.net.URI

import org.apache.spark.sql.functions.{col, concat, lit}
import org.apache.spark.sql.{Column, DataFrame}

import sparkkinesis.bench.raw.RawWriter
import sparkkinesis.bench.server.BenchSpark
import sparkkinesis.bench.sizing.Load

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
}
