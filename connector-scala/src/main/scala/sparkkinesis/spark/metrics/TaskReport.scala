package sparkkinesis.spark.metrics

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInputStream, DataOutputStream}
import java.nio.ByteBuffer

import org.HdrHistogram.Histogram

import sparkkinesis.sink.metrics.{ShardSleep, SinkCounter, SinkMetrics}

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
    out.writeBoolean(metrics.longestSleep.isDefined)
    metrics.longestSleep.foreach { it =>
      out.writeUTF(it.stream)
      out.writeUTF(it.shard)
      out.writeLong(it.millis)
    }
    val times = ByteBuffer.allocate(metrics.requestTimes.getNeededByteBufferCapacity)
    val size = metrics.requestTimes.encodeIntoByteBuffer(times)
    out.writeInt(size)
    out.write(times.array, 0, size)
  }

  /** Reads the arguments in their order. */
  private def readMetrics(in: DataInputStream): SinkMetrics = SinkMetrics(
    counts = SinkCounter.all.map(_ => in.readLong()),
    longestSleep = if (in.readBoolean()) Some(readSleep(in)) else None,
    requestTimes = readTimes(in)
  )

  private def readTimes(in: DataInputStream): Histogram = {
    val bytes = new Array[Byte](in.readInt())
    in.readFully(bytes)
    Histogram.decodeFromByteBuffer(ByteBuffer.wrap(bytes), 0)
  }

  private def readSleep(in: DataInputStream): ShardSleep =
    ShardSleep(stream = in.readUTF(), shard = in.readUTF(), millis = in.readLong())
}
