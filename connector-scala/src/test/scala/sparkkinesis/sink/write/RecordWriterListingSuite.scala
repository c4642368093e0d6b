package sparkkinesis.sink.write

import java.util.concurrent.Semaphore
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}

import scala.util.Random

import org.scalatest.concurrent.Eventually._
import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client.{ListShardsRequest, ShardListing, SystemClock}
import sparkkinesis.sink.FakeKinesis
import sparkkinesis.sink.rate.TargetStream

/** Tasks of one executor wait for the first listing of their stream, and stop one after another. */
class RecordWriterListingSuite extends AnyFunSuite with RecordWriterFixture {

  /** A stream whose shards are never listed. */
  private def unlisted: TargetStream = target(
    new FakeKinesis((_, _) => Nil) {
      override def listShards(request: ListShardsRequest): ShardListing = {
        new Semaphore(0).acquire()
        throw new IllegalStateException
      }
    },
    SystemClock
  )

  /** A task that waits in `put`, and the threads of its writer. */
  private final class Task(stream: TargetStream, interrupted: AtomicInteger) {
    val isCancelled = new AtomicBoolean

    /** The writer's threads belong to the group of their owner. */
    private val group = new ThreadGroup("task")

    val owner: Thread = new Thread(group, () => write())
    owner.setDaemon(true)
    owner.start()

    private def write(): Unit = {
      val writer =
        new RecordWriter(patient, None, SystemClock, new Random(1), () => isCancelled.get)
      try writer.put(stream, entry("1"))
      catch { case _: InterruptedException => interrupted.incrementAndGet() }
      finally writer.close()
    }

    def writerThreads: Int = {
      val all = new Array[Thread](group.activeCount + 10)
      all.take(group.enumerate(all)).count(_.getName.startsWith("spark-kinesis-writer"))
    }
  }

  private def stopping(stop: Task => Unit): Unit = {
    val (stream, interrupted) = (unlisted, new AtomicInteger)
    val tasks = Seq.fill(3)(new Task(stream, interrupted))
    eventually(soon)(assert(tasks.forall(_.writerThreads == 1)))
    tasks.indices.foreach { i =>
      stop(tasks(i))
      eventually(soon)(assert(!tasks(i).owner.isAlive && tasks(i).writerThreads === 0))
      assert(tasks.drop(i + 1).forall(it => it.owner.isAlive && it.writerThreads == 1))
    }
    assert(interrupted.get === 3)
  }

  test("an interrupted task stops while it waits for the first listing, and the others wait on") {
    stopping(_.owner.interrupt())
  }

  test("a task that is cancelled without an interrupt stops while it waits for the first listing") {
    stopping(_.isCancelled.set(true))
  }
}
