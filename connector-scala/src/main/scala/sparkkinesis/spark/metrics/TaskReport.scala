package sparkkinesis.spark.metrics

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInputStream, DataOutputStream}

import sparkkinesis.sink.metrics.{RequestTimes, ShardSleep, SinkCounter, SinkMetrics}

/**
 * What an attempt at a task counted, when it has ended. It travels as bytes: the driver cannot read
 * a class of ours where a session added the jar.
 *
 * @param isCommitted whether the attempt did all it was to do
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
    out.writeInt(metrics.requestTimes.counts.size)
    metrics.requestTimes.counts.foreach(out.writeLong)
  }

  /** Arguments are read in their order. */
  private def readMetrics(in: DataInputStream): SinkMetrics = SinkMetrics(
    counts = SinkCounter.all.map(_ => in.readLong()),
    longestSleep = if (in.readBoolean()) Some(readSleep(in)) else None,
    requestTimes = RequestTimes(Vector.fill(in.readInt())(in.readLong()))
  )

  private def readSleep(in: DataInputStream): ShardSleep =
    ShardSleep(stream = in.readUTF(), shard = in.readUTF(), millis = in.readLong())
}
