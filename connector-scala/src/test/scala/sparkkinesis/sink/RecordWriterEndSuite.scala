package sparkkinesis.sink

import java.util.concurrent.Semaphore
import java.util.concurrent.atomic.AtomicReference

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.util.Random

import org.scalatest.concurrent.Eventually._
import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client._

/** A writer ends when it is told to, and leaves no thread behind. */
class RecordWriterEndSuite extends AnyFunSuite with WriterFixture {
  private val twoSeconds = 2000L

  private def hanging: FakeKinesis = new FakeKinesis((_, _) => {
    new Semaphore(0).acquire()
    Nil
  })

  test("an interrupted task stops within two seconds, in put and in flush, and leaks no thread") {
    val tasks = Seq[RecordWriter => Unit](
      writer => (1 to 100).foreach(i => writer.put(entry(i.toString))),
      writer => {
        writer.put(entry("1"))
        writer.flush()
      }
    )
    tasks.foreach { task =>
      val thrown = new AtomicReference[Throwable]
      val owner = thread {
        try withWriter(hanging, SinkOptions(maxBufferedBytes = 40))(task)
        catch { case e: Throwable => thrown.set(e) }
      }
      eventually(soon)(assert(owner.getState === Thread.State.WAITING))
      owner.interrupt()
      owner.join(twoSeconds)
      assert(!owner.isAlive)
      assert(thrown.get.isInstanceOf[InterruptedException])
      eventually(soon)(assert(writerThreads.isEmpty))
    }
  }

  test("close during a back-off ends it") {
    val kinesis = new FakeKinesis((_, _) => throw new KinesisException.Unreachable("no way"))
    val options = SinkOptions(deliveryTimeout = 1000.hours)
    val writer =
      new RecordWriter(kinesis, stream, RequestLimits.Default, options, SystemClock, new Random(1))
    writer.put(entry("1"))
    val owner = thread(
      try writer.flush()
      catch { case _: InterruptedException => () }
    )
    eventually(soon)(assert(kinesis.requests.size >= 2))
    owner.interrupt()
    writer.close()
    owner.join(twoSeconds)
    assert(!owner.isAlive)
    eventually(soon)(assert(writerThreads.isEmpty))
  }

  private def writerThreads: Iterable[Thread] =
    Thread.getAllStackTraces.keySet.asScala.filter(_.getName.startsWith("spark-kinesis-writer"))
}
