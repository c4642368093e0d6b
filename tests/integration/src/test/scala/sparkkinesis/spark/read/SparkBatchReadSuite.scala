package sparkkinesis.spark.read

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.DataFrame

import sparkkinesis.client.{ListShardsRequest, ShardFilter}
import sparkkinesis.model.{HashKey, PutEntry, StreamName, StreamRef}
import sparkkinesis.spark.SparkFixture

/** `spark.read.format("kinesis")`, over HTTP from the local Kinesis. */
class SparkBatchReadSuite extends AnyFunSuite with SparkFixture {
  private def put(name: StreamName, numbers: Range): Unit = {
    val entries = numbers.map(n => PutEntry(s"key${n % 9}", n.toString.getBytes, None))
    server.kinesis.putRecords(StreamRef.ByName(name), entries): Unit
  }

  private def load(name: StreamName, more: (String, String)*): DataFrame =
    spark.read.format("kinesis").options(options(name, more: _*)).load()

  private def numbers(frame: DataFrame): Seq[Int] =
    frame.selectExpr("int(string(data))").collect().map(_.getInt(0)).toSeq.sorted

  /** Records that came over the wire. */
  private def fetched(action: => Any): Long = {
    val before = server.kinesis.statistics.snapshot.recordsRead
    action
    server.kinesis.statistics.snapshot.recordsRead - before
  }

  test("a batch read has all records, also over a reshard, for any action") {
    val name = newStream(shards = 2)
    put(name, 1 to 100)
    val stream = StreamRef.ByName(name)
    val first = server.kinesis.listShards(ListShardsRequest.First(stream, ShardFilter.AtLatest))
    val shard = first.shards.head
    val middle = (shard.hashKeys.first.value + shard.hashKeys.last.value) / 2 + 1
    server.kinesis.splitShard(name, shard.id, HashKey(middle))
    put(name, 101 to 200)
    val frame = load(name)
    assert(frame.count() === 200)
    assert(numbers(frame) === (1 to 200) && numbers(frame) === (1 to 200))
    assert(frame.select("stream", "streamArn").distinct().count() === 1)
  }

  test("a filter on arrival time reduces the records that are fetched") {
    val name = newStream(shards = 2)
    put(name, 1 to 50)
    server.kinesis.advance(1.hour)
    val middle = server.kinesis.now.minusSeconds(600)
    put(name, 51 to 70)
    server.kinesis.advance(1.hour)
    put(name, 71 to 120)
    val column = "approximateArrivalTimestamp"
    val half = middle.plusSeconds(1800)
    val filtered = load(name, "maxRecordsPerFetch" -> "5").where(
      s"$column >= timestamp'$middle' AND $column < timestamp'$half' AND shardId LIKE 'shardId%'"
    )
    val records = fetched(assert(numbers(filtered) === (51 to 70)))
    assert(records <= 20 + 2 * 5, "and of each shard the page in which it ends")
    assert(fetched(load(name).count()) >= 120)
  }

  test("a filter on the shard reads only that shard") {
    val name = newStream(shards = 2)
    put(name, 1 to 90)
    val shard = "shardId-000000000001"
    val mine = load(name).where(s"shardId = '$shard'")
    val count = load(name).groupBy("shardId").count().where(s"shardId = '$shard'").head().getLong(1)
    assert(fetched(assert(mine.count() === count)) === count)
    assert(load(name).where("shardId = 'shardId-000000000007'").count() === 0)
  }

  private def refusal(name: StreamName, options: (String, String)*): String =
    intercept[IllegalArgumentException](load(name, options: _*).count()).getMessage

  test("options that a batch read does not support are refused by name") {
    val name = newStream(shards = 2)
    assert(refusal(name, "maxRecordsPerTrigger" -> "7").contains("[KINESIS_CONFLICTING_OPTIONS]"))
    assert(refusal(name, "startingPosition" -> "latest").contains("'startingPosition' is 'latest'"))
    val named = s"""{"$name": {"shardId-000000000005": "latest", "*": "latest"}}"""
    assert(refusal(name, "startingPosition" -> named).contains("The newest shard is number 1."))
  }

  test("a streaming query refuses an ending position") {
    val e = intercept[Exception] {
      readAll(newStream(), "endingPosition" -> "latest").writeStream
        .format("noop")
        .option("checkpointLocation", newCheckpoint())
        .start()
        .processAllAvailable()
    }
    assert(e.getMessage.contains("'endingPosition' applies to batch reads"))
  }
}
