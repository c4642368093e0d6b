package sparkkinesis.client.aws.wire

import com.fasterxml.jackson.dataformat.cbor.CBORGenerator
import org.scalacheck.{Gen, Shrink}
import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators
import sparkkinesis.Properties
import sparkkinesis.client.PutResult
import sparkkinesis.client.PutResult.{Failed, Written}
import sparkkinesis.model.{SequenceNumber, ShardId}

/** The decoder and the SDK decode the same results. */
class PutRecordsDecoderSuite extends AnyFunSuite with Properties {
  import CborPages.{anyByte, written => cbor}
  import CborResults.{anyResults, encoded}

  private implicit def noShrink[A]: Shrink[A] = Shrink.shrinkAny

  test("a decoded response equals the one that was encoded, and the SDK's decoding") {
    forAll(anyResults(30), Gen.oneOf(true, false), Gen.oneOf(true, false)) {
      (all, isSized, hasMore) =>
        val bytes = encoded(all, isSized, hasMore)
        assert(PutRecordsDecoder.decode(bytes) === Some(all))
        assert(PutRecordsTarget.bySdk(bytes) === all)
    }
  }

  test("a response without failures has no object per record, and knows which shards took them") {
    val shards = Seq(1, 1, 2).map(Generators.shardId)
    val results = shards.map(Written(_, SequenceNumber("7")))
    PutRecordsDecoder.decode(encoded(results, isSized = true, hasMore = false)) match {
      case Some(all: PutResult.AllWritten) =>
        assert(all === results)
        assert(all.areIn(shards.head, 0, 2) && all.areIn(shards.last, 2, 3))
        assert(!all.areIn(shards.head, 0, 3) && !all.areIn(shards.last, 0, 2))
      case other => fail(s"$other")
    }
    val failed = results :+ Failed("InternalFailure", "oops")
    val mixed = PutRecordsDecoder.decode(encoded(failed, isSized = true, hasMore = false))
    assert(mixed.exists(!_.isInstanceOf[PutResult.AllWritten]))
  }

  test("a corrupted response is decoded as the SDK decodes it, or left to the SDK") {
    val garbled = for {
      bytes <- Gen.zip(anyResults(2), Gen.oneOf(true, false), Gen.oneOf(true, false)).map {
        case (all, isSized, hasMore) => encoded(all, isSized, hasMore)
      }
      at <- Gen.choose(0, bytes.length - 1)
      by <- Gen.choose(1, 3).flatMap(Gen.listOfN(_, anyByte))
      replaced <- Gen.choose(0, 3)
    } yield bytes.patch(at, by, replaced)
    forAll(garbled, minSuccessful(20000))(PutRecordsTarget.fuzzerTestOneInput)
  }

  test("a truncated response, or one with trailing bytes, is left to the SDK") {
    val all = Seq(Written(ShardId("s"), SequenceNumber("12")), Failed("Code", "why"))
    Seq(true, false).foreach { isSized =>
      val whole = encoded(all, isSized, hasMore = true)
      assert(PutRecordsDecoder.decode(whole) === Some(all))
      whole.indices.foreach(n => assert(PutRecordsDecoder.decode(whole.take(n)).isEmpty, n))
      assert(PutRecordsDecoder.decode(whole :+ 0.toByte).isEmpty)
    }
  }

  test("the records of a shard share one object for the shard's name") {
    val all = Seq.tabulate(500)(n => Written(Generators.shardId(n % 64), SequenceNumber("1")))
    val read = PutRecordsDecoder.decode(encoded(all, isSized = true, hasMore = false)).get
    val ids = read.collect { case Written(shard, _) => shard }
    assert(ids.map(System.identityHashCode).distinct.size <= 64 + 8)
  }

  private def unusual(name: String)(write: CBORGenerator => Unit): Unit =
    test(s"$name is left to the SDK")(assert(PutRecordsDecoder.decode(record(write)).isEmpty))

  private def record(members: CBORGenerator => Unit): Array[Byte] = cbor { out =>
    out.writeStartObject()
    out.writeArrayFieldStart("Records")
    out.writeStartObject()
    members(out)
    out.writeEndObject()
    out.writeEndArray()
    out.writeEndObject()
  }

  unusual("a record with nothing said")(_ => ())
  unusual("a null error beside a shard") { out =>
    out.writeStringField("ShardId", "s")
    out.writeStringField("SequenceNumber", "12")
    out.writeNullField("ErrorCode")
  }
  unusual("a shard without a number")(_.writeStringField("ShardId", "s"))
  unusual("a number with a letter") { out =>
    out.writeStringField("ShardId", "s")
    out.writeStringField("SequenceNumber", "12a")
  }

  test("a response without records is left to the SDK") {
    assert(PutRecordsDecoder.decode(Array(0xa0.toByte)).isEmpty)
  }
}
