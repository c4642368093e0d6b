package sparkkinesis.spark.read

import org.scalatest.Suite
import org.scalatest.concurrent.Eventually
import org.scalatest.time.{Millis, Seconds, Span}

import org.apache.spark.sql.DataFrame

import sparkkinesis.model.{PutEntry, StreamName}
import sparkkinesis.spark.SparkFixture

/** Streams with a backlog of numbered records, and executors with little room to read ahead. */
trait BacklogFixture extends SparkFixture with Eventually { this: Suite =>
  implicit override val patienceConfig: PatienceConfig =
    PatienceConfig(Span(120, Seconds), Span(50, Millis))

  /** A stream of one shard with the records 1 to `count` of 1000 bytes. */
  protected def newBacklog(count: Int): StreamName = {
    val stream = newStream(shards = 1)
    (1 to count).foreach { number =>
      server.kinesis.putRecord(stream, PutEntry("k", s"$number ".padTo(1000, '.').getBytes, None))
    }
    stream
  }

  protected def numbers(frame: DataFrame): Seq[Int] =
    frame.selectExpr("cast(data as string)").collect().toSeq.map { row =>
      row.getString(0).takeWhile(_ != ' ').toInt
    }

  protected def calls: Long = server.kinesis.statistics.snapshot.calls.getOrElse("GetRecords", 0L)

  /**
   * Waits until the store is full and there are no calls, though an idle shard has one per second.
   */
  protected def awaitNoCalls(): Long = {
    var (before, quiet) = (-1L, 0)
    eventually {
      val now = calls
      quiet = if (now == before) quiet + 1 else 0
      before = now
      assert(now > 0 && quiet > 40)
    }
    before
  }
}
