package sparkkinesis.spark.read

import java.time.Instant

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import org.apache.spark.sql.connector.read.streaming.Offset

import sparkkinesis.Generators._
import sparkkinesis.model.offset.SourceOffset
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
