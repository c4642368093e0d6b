package sparkkinesis.simulator

import java.time.Instant

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client.aws.AwsClientFactory
import sparkkinesis.client.{KinesisException, PutResult}
import sparkkinesis.model._
import sparkkinesis.simulator.service.{SimulatedClock, SimulatedKinesis}
import sparkkinesis.simulator.state.StreamMode

/** Record distribution `AUTO`, which kinesis-local does not have. */
final class AutoDistributionSuite extends AnyFunSuite {
  private val name = StreamName("s")
  private val stream = StreamRef.ByName(name)

  private def onDemand(): SimulatedKinesis = {
    val kinesis = new SimulatedKinesis(new SimulatedClock(Instant.parse("2026-01-01T00:00:00Z")))
    kinesis.createOnDemandStream(name)
    kinesis
  }

  private def shardOf(result: PutResult): ShardId = result match {
    case written: PutResult.Written => written.shard
    case failed: PutResult.Failed => fail(failed.toString)
  }

  private def entries(key: String): Seq[PutEntry] =
    (1 to 20).map(i => PutEntry(key, Array(i.toByte), Some(HashKey.Min)))

  test("records are spread evenly over the open shards, whatever their keys") {
    val kinesis = onDemand()
    assert(kinesis.putRecords(stream, entries("k")).map(shardOf).distinct.size == 1)
    kinesis.updateDistribution(name, RecordDistribution.Auto)
    val counts = kinesis.putRecords(stream, entries("k")).groupBy(shardOf).values.map(_.size)
    assert(counts.toSeq == Seq.fill(4)(5))
    kinesis.updateDistribution(name, RecordDistribution.UserPartitionKey)
    assert(kinesis.putRecords(stream, entries("k")).map(shardOf).distinct.size == 1)
  }

  test("a partition key is optional, and is returned if it was given") {
    val kinesis = onDemand()
    intercept[KinesisException.InvalidArgument](kinesis.putRecords(stream, entries("")))
    kinesis.updateDistribution(name, RecordDistribution.Auto)
    val shards =
      Seq("", "given").map(key => shardOf(kinesis.putRecords(stream, entries(key).take(1)).head))
    val keys = shards.map { shard =>
      val first = kinesis.shardIterator(stream, shard, Position.TrimHorizon)
      kinesis.getRecords(stream, first, 100).records.head.partitionKey
    }
    assert(keys == Seq(None, Some("given")))
  }

  test("over HTTP, a record without a key is read without one") {
    val kinesis = onDemand()
    kinesis.updateDistribution(name, RecordDistribution.Auto)
    val shard = shardOf(kinesis.putRecords(stream, entries("").take(1)).head)
    val server = KinesisServer.start(kinesis = kinesis)
    try {
      val client = AwsClientFactory.create(LocalClient.config(server.endpoint))
      try {
        val first = client.shardIterator(stream, shard, Position.TrimHorizon)
        val record = client.getRecords(stream, first, 100).records.head
        assert(record.partitionKey.isEmpty && record.data.sameElements(Array(1.toByte)))
      } finally client.close()
    } finally server.close()
  }

  test("AUTO distribution is refused for provisioned streams, and keeps a stream on-demand") {
    val kinesis = onDemand()
    kinesis.updateDistribution(name, RecordDistribution.Auto)
    intercept[KinesisException.InvalidArgument](kinesis.updateMode(name, StreamMode.Provisioned))
    kinesis.updateDistribution(name, RecordDistribution.UserPartitionKey)
    kinesis.updateMode(name, StreamMode.Provisioned)
    intercept[KinesisException.InvalidArgument](
      kinesis.updateDistribution(name, RecordDistribution.Auto)
    )
  }
}
