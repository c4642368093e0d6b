package sparkkinesis.spark.read

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.source.options.SourceOptions
import sparkkinesis.spark.SparkFixture

class FirstOffsetSuite extends AnyFunSuite with SparkFixture {
  test("a query from latest that restarts before its first batch begins where it began") {
    assert(spark ne null, "the source needs its context")
    val named = options(newStream(), "startingPosition" -> "latest")
    val checkpoint = newCheckpoint()
    def initialOffset(): String = {
      val source = new KinesisMicroBatchStream(SourceOptions.parse(named, None), checkpoint)
      try source.initialOffset().json
      finally source.stop()
    }
    val before = initialOffset()
    server.kinesis.advance(1.minute)
    assert(initialOffset() === before)
  }
}
