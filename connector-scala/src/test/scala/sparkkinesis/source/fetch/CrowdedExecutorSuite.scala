package sparkkinesis.source.fetch

import java.time.Instant

import scala.collection.mutable
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{PackedRecords, SequenceNumber}
import sparkkinesis.shard.FetchMemory
import sparkkinesis.source.store.{PageStore, StoredPage}

/**
 * Fifty queries on one executor with two cores, each of four shards with an endless backlog, in
 * simulated time. All queries progress evenly, and so do the shards of each query.
 */
class CrowdedExecutorSuite extends AnyFunSuite {
  private val (queries, shards, slots) = (50, 4, 2)
  private val capacity = 256L << 20

  test("pages of 10 MB: one per query at a time, and the shards take turns") {
    val read = progress(10 << 20)
    assert(ratio(read.map(_.sum)) >= 0.8)
    assert(read.forall(ratio(_) >= 0.8))
  }

  test("pages of 1 MB: each query reads several per batch") {
    val read = progress(1 << 20)
    assert(ratio(read.map(_.sum)) >= 0.8)
    assert(read.forall(ratio(_) >= 0.8))
    assert(read.map(_.sum).sum >= 3 * batches, "pages per batch")
  }

  private def ratio(counts: Seq[Int]): Double = counts.min.toDouble / counts.max

  private var batches = 0

  /** Number of pages that batches have read of each shard of each query. */
  private def progress(pageBytes: Int): Seq[Seq[Int]] = {
    val executor = new Executor(pageBytes)
    executor.run(untilMillis = 240000)
    batches = executor.batches
    val read = executor.queries.map(_.done.toSeq)
    info(s"${read.map(_.sum).min} to ${read.map(_.sum).max} pages per query, $batches batches")
    read
  }

  /** Runs the next event until the time is over. */
  private final class Executor(pageBytes: Int) {
    private val random = new Random(1)
    private val agenda = mutable.PriorityQueue.empty[(Long, Int, () => Unit)](Ordering.by {
      case (at, number, _) => (-at, -number)
    })
    private val content = (100000 until 100000 + pageBytes / 6).map(_.toString).mkString.getBytes
    private val memory = new FetchMemory
    private var (now, events, free) = (0L, 0, slots)
    private val ready = mutable.Queue.empty[Query] // whose batch waits for a slot
    var batches = 0
    val queries: Seq[Query] = Seq.fill(CrowdedExecutorSuite.this.queries)(new Query)

    def run(untilMillis: Long): Unit = {
      queries.foreach(_.begin())
      while (now < untilMillis) {
        val (at, _, event) = agenda.dequeue()
        now = at
        event()
      }
    }

    private def after(millis: Long)(event: => Unit): Unit = {
      events += 1
      agenda.enqueue((now + millis, events, () => event))
    }

    /** One record over the array that all pages share, so that pages take no memory here. */
    private def page(number: Int): PackedRecords = {
      val builder = new PackedRecords.Builder(content, 1)
      builder.number(6 * number, 6 * number + 6)
      builder.add(0, None)
      builder.result()
    }

    private def upTo(number: Int): Progress =
      if (number == 0) Progress.TrimHorizon
      else Progress.After(SequenceNumber((100000 + number).toString))

    private final class Fetches {
      var count = 0
      val nextPage = new NextPage
    }

    final class Query {
      private val store = new PageStore(memory.join(capacity))
      private val fetches = Vector.fill(shards)(new Fetches)
      val done: Array[Int] = new Array[Int](shards)

      def begin(): Unit = {
        (0 until shards).foreach(shard => after(random.nextInt(200).toLong)(fetch(shard)))
        after(0)(plan())
      }

      private def fetch(shard: Int): Unit = {
        val estimate = fetches(shard).nextPage.bytes
        if (!store.reserve(shardOf(shard), estimate, shards, Instant.ofEpochMilli(now)))
          after(20)(fetch(shard))
        else
          after(20 + random.nextInt(200).toLong) {
            val count = fetches(shard).count
            store.add(shardOf(shard), StoredPage(upTo(count), page(count + 1), upTo(count + 1)))
            store.release(shardOf(shard))
            fetches(shard).count = count + 1
            fetches(shard).nextPage.stored(pageBytes.toLong, 1)
            after(200)(fetch(shard))
          }
      }

      /** The pages of the batch before are dropped, and all others are the next batch. */
      private def plan(): Unit = {
        (0 until shards).foreach(shard => store.dropUpTo(shardOf(shard), upTo(done(shard))))
        if (fetches.map(_.count) == done.toSeq) after(10)(plan())
        else {
          ready.enqueue(this)
          startTasks()
        }
      }

      def runBatch(): Unit = {
        batches += 1
        val end = fetches.map(_.count)
        after(300 + random.nextInt(50).toLong) {
          end.copyToArray(done)
          free += 1
          plan()
          startTasks()
        }
      }
    }

    private def startTasks(): Unit = while (free > 0 && ready.nonEmpty) {
      free -= 1
      ready.dequeue().runBatch()
    }
  }
}
