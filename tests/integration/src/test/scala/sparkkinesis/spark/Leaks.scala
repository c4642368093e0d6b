package sparkkinesis.spark

import java.lang.management.ManagementFactory
import java.util.{Map => JMap}
import javax.management.ObjectName

import scala.jdk.CollectionConverters._

import org.scalatest.Assertions
import org.scalatest.concurrent.Eventually
import org.scalatest.time.{Millis, Seconds, Span}

import org.apache.spark.SparkEnv
import org.apache.spark.sql.SparkSession

/** Counts threads, clients and heap of this JVM, to compare them before and after. */
trait Leaks extends Eventually with Assertions {
  implicit override val patienceConfig: PatienceConfig =
    PatienceConfig(Span(180, Seconds), Span(2, Millis))

  /** Spark's own memory of what has been is small enough to be full from the start. */
  protected def forgetful(builder: SparkSession.Builder): SparkSession.Builder = builder
    .config("spark.ui.retainedJobs", 5)
    .config("spark.ui.retainedStages", 5)
    .config("spark.ui.retainedTasks", 20)
    .config("spark.sql.ui.retainedExecutions", 5)
    .config("spark.sql.streaming.numRecentProgressUpdates", 2)
    .config("spark.sql.streaming.minBatchesToRetain", 2)
    .config(
      "spark.sql.streaming.checkpointFileManagerClass",
      "org.apache.spark.sql.execution.streaming.FileSystemBasedCheckpointFileManager"
    )

  /**
   * The limit in bytes for the growth of the live heap over some batches. Spark keeps something of
   * each batch, and the heap varies by a megabyte however few they are.
   */
  protected def mostGrowth(batches: Int, bytesOfBatch: Int): Long =
    (1L << 20) + batches.toLong * bytesOfBatch

  /**
   * The live heap in bytes. The collector finds the broadcasts of earlier batches, and Spark's
   * cleaner then frees them in a thread of its own: 3 MB after 150 batches.
   */
  protected def liveHeap: Long = (1 to 4).map { _ =>
    System.gc()
    Thread.sleep(500)
    ManagementFactory.getMemoryMXBean.getHeapMemoryUsage.getUsed
  }.min

  /** Live objects of the connector's own classes, and tasks of timers, by class. */
  protected def objects: Map[String, Int] = {
    val said = ManagementFactory.getPlatformMBeanServer.invoke(
      new ObjectName("com.sun.management:type=DiagnosticCommand"),
      "gcClassHistogram",
      Array[AnyRef](Array.empty[String]),
      Array("[Ljava.lang.String;")
    )
    said.toString.linesIterator
      .map(_.trim.split("\\s+"))
      .collect { case Array(_, count, _, name, _*) if isOurs(name) => name -> count.toInt }
      .toMap
  }

  protected def isOurs(name: String): Boolean =
    name.endsWith("$ScheduledFutureTask") ||
      Seq("spark", "source", "sink", "model", "client").exists(p =>
        name.startsWith(s"sparkkinesis.$p.")
      )

  protected def more(now: Map[String, Int], before: Map[String, Int]): Map[String, Int] =
    now.map { case (name, count) => name -> (count - before.getOrElse(name, 0)) }

  /** The threads of the connector and its libraries, by name without numbers. */
  protected def threads: Map[String, Int] = Thread.getAllStackTraces.keySet.asScala.toSeq
    .map(_.getName.replaceAll("\\d+", "N"))
    .filter(name => Seq("spark-kinesis", "sdk-", "idle-connection", "sts").exists(name.contains))
    .groupBy(identity)
    .map { case (name, all) => name -> all.size }

  /** May be negative, because idle clients of earlier suites are closed meanwhile. */
  protected def moreThreads(before: Map[String, Int]): Map[String, Int] =
    more(threads, before).filter(_._2 > 0) - "spark-kinesis-timer" - "spark-kinesis-timeouts"

  protected def endpoints: Int = {
    def member(of: AnyRef, name: String): AnyRef = {
      val field = of.getClass.getDeclaredField(name)
      field.setAccessible(true)
      field.get(of)
    }
    val rpc = classOf[SparkEnv].getMethod("rpcEnv").invoke(SparkEnv.get)
    member(member(rpc, "dispatcher"), "endpoints") match {
      case all: JMap[_, _] => all.size
      case other => fail(s"not a map: $other")
    }
  }
}
