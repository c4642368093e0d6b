package sparkkinesis.spark.read

import java.time.Instant

import scala.collection.immutable.SortedMap

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import org.apache.spark.sql.connector.read.streaming.Offset

import sparkkinesis.Generators._
import sparkkinesis.model.SequenceNumber
import sparkkinesis.model.offset.{Progress, ShardProgress, SourceOffset, StreamOffset}
import sparkkinesis.source.checkpoint.OffsetCodec

class KinesisOffsetSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  /** An offset as Spark passes it from its log. */
  private def logged(text: String): Offset = new Offset {
    override def json: String = text
  }

  test("equal source offsets are equal for Spark, even if they are different objects") {
    forAll(offset) { offset =>
      val again = OffsetCodec.decode(OffsetCodec.encode(offset))
      assert(KinesisOffset(offset) === KinesisOffset(offset))
      assert(KinesisOffset(offset) === KinesisOffset(again))
      assert(KinesisOffset(offset).hashCode === KinesisOffset(again).hashCode)
    }
  }

  test("different source offsets are different for Spark, even if only completeness differs") {
    forAll(offset, offset) { (one, other) =>
      assert((KinesisOffset(one) == KinesisOffset(other)) === (one == other))
      val later = SourceOffset(one.streams.transform { (_, stream) =>
        stream.copy(shards = stream.shards.transform { (_, shard) =>
          shard.copy(completeAsOf = Some(Instant.MAX))
        })
      })
      assert(KinesisOffset(one) !== KinesisOffset(later))
    }
  }

  test("a hundred offsets of 10,000 shards, which Spark keeps, take little of a heap of 1 GB") {
    val number = SequenceNumber("49659048151843208164834873923474529478262450846735958018")
    val progress = ShardProgress(Progress.After(number), Set.empty, Some(Instant.EPOCH))
    val shards = SortedMap.from((0 until 10000).map(shardId(_) -> progress))
    val offset = KinesisOffset(only(StreamOffset(arn, Instant.EPOCH, shards)))
    assert(offset.json eq offset.json, "start, end and latest of a batch share one text")
    val recent = new RecentOffsets
    recent.keep(offset)
    assert(recent.shared(offset.offset).json eq offset.json)
    info(s"${offset.json.length} bytes of JSON per offset")
    assert(offset.json.length * 100L < (150L << 20))
  }

  test("an offset equals its own text in Spark's log") {
    forAll(offset, Gen.alphaStr) { (offset, text) =>
      val own = KinesisOffset(offset)
      val same = logged(own.json)
      assert(own === same)
      assert(same === own)
      assert(own.hashCode === same.hashCode)
      assert(own !== logged(text))
    }
  }
}
