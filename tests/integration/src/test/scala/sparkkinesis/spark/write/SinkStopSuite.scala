package sparkkinesis.spark.write

import scala.concurrent.ExecutionContext.global
import scala.concurrent.Future
import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import org.scalatest.BeforeAndAfterEach
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.SparkSession

import sparkkinesis.client.aws.ClientPool
import sparkkinesis.simulator.fault.{Fault, FaultRule}
import sparkkinesis.spark.{Leaks, SparkFixture}

/** A write that is cancelled ends wherever its tasks wait, and leaves no thread or loan behind. */
class SinkStopSuite extends AnyFunSuite with SparkFixture with BeforeAndAfterEach with Leaks {
  override protected def sparkBuilder: SparkSession.Builder = forgetful(super.sparkBuilder)

  override protected def beforeEach(): Unit = {
    server.kinesis.script.removeAll()
    server.kinesis.statistics.reset()
  }

  private def write(more: (String, String)*): Unit =
    spark
      .range(0, 4000, 1, 2)
      .selectExpr("cast(id as string) data", "concat('k', id % 100) partitionKey")
      .write
      .format("kinesis")
      .options(options(newStream(shards = 2), more: _*))
      .mode("append")
      .save()

  /** Threads of tasks that are in the sink. */
  private def tasks: Int = Thread.getAllStackTraces.values.asScala.count {
    _.exists(_.getClassName == classOf[KinesisDataWriter].getName)
  }

  private def writerThreads: Int = threads.getOrElse("spark-kinesis-writer", 0)

  private def calls(operation: String): Long =
    server.kinesis.statistics.snapshot.calls.getOrElse(operation, 0L)

  private val noAnswer = Fault.Stalled(1.hour)
  private val inPut = Seq("maxBufferedBytes" -> "4k")

  for {
    (where, fault, operation, options) <- Seq(
      ("no request is answered before its last row", noAnswer, "PutRecords", inPut),
      ("no request is answered after its last row", noAnswer, "PutRecords", Nil),
      ("its shards are throttled", Fault.Throttled, "PutRecords", Nil),
      ("its stream's shards are not listed", noAnswer, "ListShards", Nil)
    )
    isInterrupted <- Seq(true, false)
    how = if (isInterrupted) "" else " by a job that does not interrupt"
  } test(s"a write that is cancelled$how ends while $where") {
    write() // what it takes anyway
    eventually(assert(writerThreads === 0))
    val (ours, loans) = (threads, ClientPool.shared.loans)
    server.kinesis.statistics.reset()
    server.kinesis.script.add(FaultRule(fault, Some(operation)))
    val writing = Future {
      spark.sparkContext.setJobGroup("cancelled", "a write", isInterrupted)
      write(options: _*)
    }(global)
    eventually(assert(calls(operation) >= 1 && tasks === 2))
    spark.sparkContext.cancelJobGroup("cancelled")
    eventually(assert(tasks === 0 && writerThreads === 0))
    eventually(assert(writing.value.exists(_.isFailure) && RoutedStreams.shared.loans === 0))
    eventually(assert(moreThreads(ours) === Map.empty))
    assert(ClientPool.shared.loans <= loans + 1, "the stream's, kept for the next task")
  }
}
