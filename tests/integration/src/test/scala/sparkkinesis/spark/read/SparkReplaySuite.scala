package sparkkinesis.spark.read

import java.nio.file.{Files, Path, Paths}

import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.streaming.Trigger
import org.apache.spark.sql.{DataFrame, SparkSession}

import sparkkinesis.model.{PutEntry, StreamName, StreamRef}
import sparkkinesis.spark.SparkFixture

/** A replay of a query that `spark-kinesis rewind` has moved, over HTTP from the local Kinesis. */
class SparkReplaySuite extends AnyFunSuite with SparkFixture {

  /** Of a replay in one slot. After as many moves, a task reads a shard for several batches. */
  private val Tasks = 4

  override protected def sparkBuilder: SparkSession.Builder = super.sparkBuilder.master("local[1]")

  private type Rows = Map[Long, Seq[Int]] // of each batch

  private def put(name: StreamName, numbers: Range): Unit = {
    val entries = numbers.map(n => PutEntry(s"key${n % 9}", n.toString.getBytes, None))
    server.kinesis.putRecords(StreamRef.ByName(name), entries): Unit
  }

  private def numbers(frame: DataFrame): Seq[Int] =
    frame.selectExpr("int(string(data))").collect().map(_.getInt(0)).toSeq.sorted

  /** Runs a query to the end of the stream. */
  private def readToEnd(name: StreamName, checkpoint: String): Rows = {
    val rows = mutable.Map.empty[Long, Seq[Int]]
    val save = (frame: DataFrame, batch: Long) => rows += batch -> numbers(frame): Unit
    val query = readAll(name).writeStream
      .option("checkpointLocation", checkpoint)
      .trigger(Trigger.AvailableNow())
      .foreachBatch(save)
      .start()
    query.awaitTermination()
    rows.toMap.filter(_._2.nonEmpty)
  }

  /** Moves the query back to its beginning, with the files that the command leaves. */
  private def moveBack(checkpoint: String): Unit = {
    val root = Paths.get(checkpoint)
    val last = numbered(root.resolve("offsets")).max
    val file = root.resolve(s"offsets/$last")
    val old = Files.readString(file)
    val kept = root.resolve(s"rewinds/20260102T030405.00000${last}Z/offsets/$last")
    Files.createDirectories(kept.getParent)
    Files.writeString(kept, old)
    val head = old.linesIterator.take(2).toSeq
    val first = Files.readString(root.resolve("sources/0/initial-offset.json"))
    Files.deleteIfExists(root.resolve(s"offsets/.$last.crc"))
    Files.writeString(file, (head :+ first).mkString("\n")): Unit
  }

  private def numbered(folder: Path): Seq[Long] =
    folder.toFile.list().toSeq.filter(_.matches("\\d+")).map(_.toLong)

  private def replayed(name: StreamName, checkpoint: String, batches: Iterable[Long]): Rows = {
    val more =
      Seq("replayCheckpoint" -> checkpoint, "replayBatches" -> batches.toSeq.sorted.mkString(","))
    spark.read
      .format("kinesis")
      .options(options(name, more: _*))
      .load()
      .selectExpr("batchId", "int(string(data))")
      .collect()
      .toSeq
      .groupMap(_.getLong(0))(_.getInt(1))
      .transform((_, numbers) => numbers.sorted)
  }

  test("a replay across moves back returns the rows of each batch with its own number") {
    val name = newStream(shards = 2)
    val checkpoint = newCheckpoint()
    put(name, 1 to 100)
    val runs = (0 to Tasks).map { run =>
      if (run > 0) moveBack(checkpoint)
      if (run > 1) put(name, 99 + run to 99 + run) // the first two read the same records
      readToEnd(name, checkpoint)
    }
    val all = runs.reduce(_ ++ _)
    assert(all.size === runs.map(_.size).sum)
    assert(runs.map(_.values.map(_.size).sum) === Seq(100, 100, 101, 102, 103))
    assert(replayed(name, checkpoint, all.keys) === all)
    for (batch <- all.keys)
      assert(replayed(name, checkpoint, Seq(batch)) === Map(batch -> all(batch)))
  }
}
