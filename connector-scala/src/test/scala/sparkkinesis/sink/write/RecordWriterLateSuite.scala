package sparkkinesis.sink.write

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client._
import sparkkinesis.model._
import sparkkinesis.sink._
import sparkkinesis.sink.lane.Failures

/** `onDeliveryTimeout=deadLetter`: one shard takes no record, and the others go on. */
class RecordWriterLateSuite extends AnyFunSuite with RecordWriterFixture {
  private val timeout = 30.seconds

  private val options: SinkOptions = SinkOptions(
    deliveryTimeout = timeout,
    deadLetters = Some(DeadLetterOptions("letters", keepsLateRecords = true))
  )
  private val halves = HashKeyRange.even(2)

  /** Its second shard refuses each record. */
  private final class HalfDead(refusal: => PutResult)
      extends FakeKinesis((it, entries) =>
        entries.map { e =>
          if (halves.head.contains(e.hashKey)) {
            it.write(e)
            PutResult.Written(ShardId("shard-0"), SequenceNumber("1"))
          } else refusal
        }
      ) {
    override def listShards(request: ListShardsRequest): ShardListing = ShardListing(
      halves.zipWithIndex.map { case (range, i) =>
        Shard(ShardId(s"shard-$i"), Nil, range, SequenceNumber("1"), None)
      },
      None,
      None
    )
  }

  private val rows = (1 to 40).map(i => PutEntry(s"key-$i", s"$i".getBytes, None))
  private val (good, bad) = rows.partition(it => halves.head.contains(it.hashKey))
  private def texts(entries: Seq[PutEntry]): Set[String] =
    entries.map(it => new String(it.data)).toSet

  test("a shard that always refuses expires its records, and the others are written") {
    val kinesis = new HalfDead(FakeKinesis.Throttle)
    using(newWriter(kinesis, options)) { writer =>
      rows.foreach(writer.put)
      writer.flush()
      val expired = writer.takeExpired()
      assert(writer.buffered === 0 && kinesis.written.toSet === texts(good))
      assert(texts(expired.map(_.entry)) === texts(bad) && expired.size === bad.size)
      assert(expired.forall(it => it.shard == ShardId("shard-1") && it.stream == stream))
      assert(expired.forall(it => !it.mayBeWritten && it.lastError.contains("Rate exceeded")))
      assert(expired.exists(_.attempts > 1))
      assert(writer.takeExpired().isEmpty)
      good.foreach(writer.put)
      writer.flush()
      assert(kinesis.written.size === 2 * good.size)
    }
  }

  test("a record that failed without a refusal may be in the stream") {
    val kinesis = new HalfDead(PutResult.Failed("InternalFailure", "oops"))
    using(newWriter(kinesis, options)) { writer =>
      rows.foreach(writer.put)
      writer.flush()
      val expired = writer.takeExpired()
      assert(texts(expired.map(_.entry)) === texts(bad))
      assert(expired.forall(it => it.mayBeWritten && it.lastError === "oops (InternalFailure)"))
    }
  }

  test("a record that may be in the stream still may be after a later refusal") {
    val failure = Failures(1, "oops", None, mayBeWritten = true)
    val refusal = Failures(2, "Rate exceeded", None, mayBeWritten = false)
    assert(failure.andThen(refusal).mayBeWritten && refusal.andThen(failure).mayBeWritten)
    assert(!refusal.andThen(refusal).mayBeWritten)
  }

  test("the rows of an aggregate expire one by one") {
    val kinesis = new HalfDead(FakeKinesis.Throttle)
    val kpl = options.copy(aggregation = Some(AggregateLimits()), givenLinger = Some(1000.hours))
    using(newWriter(kinesis, kpl)) { writer =>
      rows.foreach(writer.put)
      writer.flush()
      val expired = writer.takeExpired()
      assert(expired.map(_.entry.partitionKey).toSet === bad.map(_.partitionKey).toSet)
      assert(texts(expired.map(_.entry)) === texts(bad) && writer.buffered === 0)
    }
  }

  test("the memory that a shard holds becomes free, so that the owner goes on") {
    val kinesis = new HalfDead(FakeKinesis.Throttle)
    using(newWriter(kinesis, options.copy(maxBufferedBytes = 1000))) { writer =>
      (1 to 5).foreach(_ => rows.foreach(writer.put))
      writer.flush()
      assert(writer.takeExpired().size === 5 * bad.size)
      assert(kinesis.written.size === 5 * good.size)
    }
  }

  test("without the option, the task fails") {
    using(newWriter(new HalfDead(FakeKinesis.Throttle), options.copy(deadLetters = None))) {
      writer =>
        rows.foreach(writer.put)
        intercept[DeliveryTimeoutException](writer.flush())
    }
  }
}
