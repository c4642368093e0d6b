package sparkkinesis.model.offset

import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.Generators._
import sparkkinesis.model.StreamShard

class SourceOffsetSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  test("settled: each stream is; the offset itself where nothing had finished") {
    forAll(offset) { offset =>
      val settled = offset.settled
      assert(settled.streams === offset.streams.transform((_, stream) => stream.settled))
      assert(settled.settled eq settled)
    }
  }

  test("readable: what each stream's offset says, by stream and shard") {
    forAll(offset) { offset =>
      offset.streams.foreach { case (arn, stream) =>
        val own = offset.readable.collect {
          case (id, progress) if id.stream == arn =>
            id.shard -> progress
        }
        assert(own === stream.readable)
      }
      assert(offset.readable.keySet.map(_.stream).subsetOf(offset.streams.keySet))
    }
  }

  test("shards of one name in two streams are two, and come in the order of their streams") {
    forAll(offset) { offset =>
      for {
        (arn, stream) <- offset.streams
        (id, shard) <- stream.shards
      } assert(offset.shard(StreamShard(arn, id)) === Some(shard))
      assert(offset.shard(StreamShard(arn.copy(account = "000000000000"), shardId(0))) === None)
      val sorted = offset.readable.keys.toSeq.sorted
      assert(sorted.map(_.stream) === sorted.map(_.stream).sorted)
    }
  }
}
