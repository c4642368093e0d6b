package sparkkinesis.model.offset

import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.Generators._
import sparkkinesis.model.StreamShard

class SourceOffsetSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  test("settled settles each stream, and returns the same offset if no shard had finished") {
    forAll(offset) { offset =>
      val settled = offset.settled
      assert(settled.streams === offset.streams.transform((_, stream) => stream.settled))
      assert(settled.settled eq settled)
    }
  }

  test("readable has the readable shards of each stream, with their progress") {
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

  test("shards with the same name in two streams are distinct, and sorted by stream") {
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
