package sparkkinesis.spark.read.realtime

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read.PartitionReader
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream

import sparkkinesis.source.options.SourceOptions

/**
 * The classes of `connector-scala/spark-4.1`, by their names: an older Spark lacks the interfaces
 * that they implement.
 */
private[spark] object RealTimeClasses {
  private val Mode = "org.apache.spark.sql.connector.read.streaming.SupportsRealTimeMode"
  private val Stream = "sparkkinesis.spark.read.realtime.KinesisRealTimeStream"
  private val Reader = "sparkkinesis.spark.read.realtime.RealTimePartitionReader"

  /** Whether this Spark has real-time mode, and the jar is one for such a Spark. */
  lazy val exist: Boolean = Seq(Mode, Stream).forall { name =>
    try {
      Class.forName(name, false, getClass.getClassLoader)
      true
    } catch { case _: ClassNotFoundException | _: LinkageError => false }
  }

  /** A stream that can also run in real-time mode. */
  def stream(options: SourceOptions, checkpointLocation: String): MicroBatchStream = Class
    .forName(Stream)
    .getConstructor(classOf[SourceOptions], classOf[String])
    .newInstance(options, checkpointLocation)
    .asInstanceOf[MicroBatchStream]

  def reader(task: RealTimeTask): PartitionReader[InternalRow] = Class
    .forName(Reader)
    .getConstructor(classOf[RealTimeTask])
    .newInstance(task)
    .asInstanceOf[PartitionReader[InternalRow]]
}
