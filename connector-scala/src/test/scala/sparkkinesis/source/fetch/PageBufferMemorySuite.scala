package sparkkinesis.source.fetch

import scala.collection.mutable

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.Generators._
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{PackedRecords, Record, SequenceNumber, ServiceLimits, StreamShard}

/**
 * The buffered bytes of an executor
 *   - never exceed the capacity plus the spare room, even if pages are larger than expected;
 *   - are shared evenly by the queries that run there at the same time.
 */
class PageBufferMemorySuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val largest = PageBuffer.LargestPage
  private val mega = 1L << 20

  /** Counts as a page of that size, but allocates no bytes. */
  private final class Account(val buffer: PageBuffer) {
    private val content = mutable.Map.empty[StreamShard, Long].withDefaultValue(0L)
    private var pending = Vector.empty[(StreamShard, Long, Long)]

    /** Bytes in memory if each pending page had arrived. */
    def atWorst: Long = buffer.bytes + pending.map(_._3).sum

    def ask(shard: StreamShard, estimate: Long, actual: Long): Boolean = {
      val isIn = buffer.reserve(shard, estimate, 8)
      if (isIn) pending :+= ((shard, estimate, actual))
      isIn
    }

    def arrive(): Unit = {
      pending.foreach { case (shard, estimate, actual) =>
        val number = content(shard)
        content(shard) = number + 1
        val record = Record(SequenceNumber(s"${number + 1}"), None, new Array[Byte](0), 0, None)
        val from =
          if (number == 0) Progress.TrimHorizon else Progress.After(SequenceNumber(s"$number"))
        buffer.add(shard, BufferedPage(from, sized(record, actual), after(record)))
        buffer.release(estimate)
      }
      pending = Vector.empty
    }
  }

  /** One record over an array of that size, which all these pages share. */
  private def sized(record: Record, bytes: Long): PackedRecords = {
    val size =
      (bytes - PackedRecords(Vector(record)).bytes).toInt + record.sequenceNumber.text.length
    val content = arrays.getOrElseUpdate(size, new Array[Byte](size))
    val number = record.sequenceNumber.text.getBytes
    System.arraycopy(number, 0, content, 0, number.length)
    val builder = new PackedRecords.Builder(content, 1)
    builder.number(0, number.length)
    builder.add(0, None)
    builder.result()
  }

  private val arrays = mutable.Map.empty[Int, Array[Byte]]

  private val turns = Gen.listOfN(
    30,
    for {
      shard <- Gen.choose(0, 7)
      estimate <- Gen.oneOf(64L << 10, 1L << 20, ServiceLimits.GetRecordsBytes.toLong)
      isLarge <- Gen.oneOf(true, false)
      isOver <- Gen.frequency(1 -> true, 15 -> false)
    } yield (shardOf(shard), estimate, isLarge, isOver)
  )

  test("pending pages of the largest possible size fit in the spare room") {
    forAll(turns, Gen.choose(1L, 300L)) { (turns, capacity) =>
      val account = new Account(new PageBuffer(capacity * mega))
      turns.foreach { case (shard, _, isLarge, isOver) =>
        account.ask(shard, 64L << 10, if (isLarge) largest else 100000L)
        assert(account.atWorst <= math.max(capacity * mega + PageBuffer.SpareBytes, largest))
        if (isOver) account.arrive()
      }
    }
  }

  test("with a full buffer a few pages may be pending, with free room many") {
    def many(held: Long) = {
      val account = new Account(new PageBuffer(256 * mega))
      if (held > 0) {
        account.ask(shardOf(99), held, held)
        account.arrive()
      }
      (0 until 100).count(n => account.ask(shardOf(n), 64L << 10, 64L << 10))
    }
    assert(many(0) >= 20)
    assert(many(240 * mega) >= 4 && many(240 * mega) <= 6)
  }

  test("a service's part shrinks when services start, and grows when they end; its pages stay") {
    var services = 1
    val account = new Account(new PageBuffer(100 * mega / services, 0))
    assert(account.ask(shardOf(0), 60 * mega, 60 * mega))
    account.arrive()
    services = 2
    assert(account.buffer.bytes > 50 * mega)
    assert(!account.ask(shardOf(1), mega, mega), "over its part by now")
    services = 1
    assert(account.ask(shardOf(1), mega, mega))
  }

  test("queries that start together never hold more than the capacity of one") {
    forAll(turns, Gen.choose(2, 5)) { (turns, count) =>
      val size = 300 * mega
      val accounts = Vector.fill(count)(
        new Account(new PageBuffer(size / count, PageBuffer.SpareBytes / count))
      )
      turns.zipWithIndex.foreach { case ((shard, estimate, _, isOver), turn) =>
        val account = accounts(turn % count)
        account.ask(shard, estimate, estimate / 2)
        if (isOver) account.arrive()
        assert(accounts.map(_.atWorst).sum <= size)
      }
    }
  }

  test("each query gets at least one page, for any number of queries and any capacity") {
    forAll(Gen.choose(1, 50), Gen.choose(1L, 64L)) { (count, size) =>
      val buffer = new PageBuffer(size * mega / count, PageBuffer.SpareBytes / count)
      assert(buffer.reserve(shardOf(0), ServiceLimits.GetRecordsBytes.toLong, 4))
    }
  }
}
