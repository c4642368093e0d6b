package sparkkinesis.spark.metrics

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInputStream, DataOutputStream}
import java.nio.ByteBuffer

import org.HdrHistogram.Histogram

import sparkkinesis.sink.metrics._

/**
 * The counts of a task attempt that has ended. It travels as bytes, because the driver cannot
 * deserialize a class of a jar that the session added.
 *
 * @param isCommitted whether the attempt succeeded
 */
private[spark] final case class TaskReport(counts: WriteCounts, isCommitted: Boolean) {
  def toBytes: Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    val out = new DataOutputStream(bytes)
    out.writeBoolean(isCommitted)
    out.writeLong(counts.deadLetters)
    TaskReport.write(counts.sink, out)
    bytes.toByteArray
  }
}

private[spark] object TaskReport {
  def parse(bytes: Array[Byte]): TaskReport = {
    val in = new DataInputStream(new ByteArrayInputStream(bytes))
    val isCommitted = in.readBoolean()
    val deadLetters = in.readLong()
    TaskReport(WriteCounts(readMetrics(in), deadLetters), isCommitted)
  }

  private def write(metrics: SinkMetrics, out: DataOutputStream): Unit = {
    metrics.counts.foreach(out.writeLong)
    out.writeInt(metrics.shards.size)
    metrics.shards.foreach(write(_, out))
    Seq(metrics.time.from, metrics.time.to).foreach(out.writeLong)
    val times = ByteBuffer.allocate(metrics.requestTimes.getNeededByteBufferCapacity)
    val size = metrics.requestTimes.encodeIntoByteBuffer(times)
    out.writeInt(size)
    out.write(times.array, 0, size)
  }

  private def write(shard: ShardTraffic, out: DataOutputStream): Unit = {
    out.writeUTF(shard.stream)
    out.writeUTF(shard.shard)
    out.writeInt(shard.shards)
    Seq(shard.records, shard.bytes, shard.sleepMillis, shard.writeMillis).foreach(out.writeLong)
    val votes = shard.votes
    Seq(votes.hashHi, votes.hashLo, votes.votes, votes.rows).foreach(out.writeLong)
  }

  /** Reads the arguments in their order, like the methods below. */
  private def readMetrics(in: DataInputStream): SinkMetrics = SinkMetrics(
    counts = SinkCounter.all.map(_ => in.readLong()),
    shards = Vector.fill(in.readInt())(readShard(in)),
    time = WriteTime(from = in.readLong(), to = in.readLong()),
    requestTimes = readTimes(in)
  )

  private def readTimes(in: DataInputStream): Histogram = {
    val bytes = new Array[Byte](in.readInt())
    in.readFully(bytes)
    Histogram.decodeFromByteBuffer(ByteBuffer.wrap(bytes), 0)
  }

  private def readShard(in: DataInputStream): ShardTraffic = ShardTraffic(
    stream = in.readUTF(),
    shard = in.readUTF(),
    shards = in.readInt(),
    records = in.readLong(),
    bytes = in.readLong(),
    sleepMillis = in.readLong(),
    writeMillis = in.readLong(),
    votes = KeyVotes(in.readLong(), in.readLong(), in.readLong(), in.readLong())
  )
}
